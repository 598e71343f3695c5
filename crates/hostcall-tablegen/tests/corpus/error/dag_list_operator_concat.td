def op;
def tree {
  dag d = ([op] 1);
  dag e = !con(d, d);
}
