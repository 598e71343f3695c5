// A field without a value is unset, and so is `?`.
class A { int X; string S = ?; list<int> L; bits<4> B; dag D; code C; bit T; A Self; }
def D : A;
