// Fields of records and of anonymous records.
class P<int x> { int X = x; }
def A : P<4>;
def D {
  int FromDef = A.X;
  int FromAnonymous = P<7>.X;
  string Deep = "v" # P<!add(A.X, 1)>.X;
}
