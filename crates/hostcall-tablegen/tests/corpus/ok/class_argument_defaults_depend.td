// A default may use the arguments before it.
class P<int a, int b = !add(a, 1), list<int> c = [a, b]> {
  int A = a;
  int B = b;
  list<int> C = c;
}
def D : P<4>;
def E : P<4, 40>;
