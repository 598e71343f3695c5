// A class that uses itself without end.
class A<int n> { int R = A<!add(n, 1)>.R; }
def D : A<1>;
