// Template arguments, with and without defaults.
class P<int a, int b = 2, string c = "x"> {
  int A = a;
  int B = b;
  string C = c;
}
def One : P<1>;
def Two : P<1, 20>;
def Three : P<1, 20, "y">;
