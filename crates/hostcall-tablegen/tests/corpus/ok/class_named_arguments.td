// Arguments by name, in any order, after those by position.
class P<int a, int b = 2, string c = "x"> {
  int A = a;
  int B = b;
  string C = c;
}
def ByName : P<c = "z", a = 5>;
def Mixed : P<1, c = "w">;
