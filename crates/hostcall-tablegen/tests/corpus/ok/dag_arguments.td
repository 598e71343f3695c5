// Reading and replacing arguments by number and by name.
class R<int v> { int V = v; } def op; def r1 : R<1>; def r2 : R<2>;
def D {
  dag A = (op r1:$x, 5:$y, "s");
  R X = !getdagarg<R>(A, "x");
  int Y = !getdagarg<int>(A, 1);
  string Wrong = !getdagarg<string>(A, 0);
  dag B = !setdagarg(A, "x", r2);
  dag C = !setdagarg(A, 2, 7);
  string N = !getdagname(A, 1);
  dag E = !setdagname(A, 2, "z");
  dag F = !setdagname(A, "x", "w");
  string Unnamed = !getdagname(A, 2);
}
