// Dags: with names, without, nested, of unset arguments, of strings and integers.
class O; def op : O; def ins; def R;
def D {
  dag A = (op);
  dag B = (op R:$src, 3:$imm, "text", (ins R, R:$x));
  dag C = (op:$whole R);
  dag E = (op $only, ?:$unset, ?);
  dag F = (ins 2, 0b101);
}
