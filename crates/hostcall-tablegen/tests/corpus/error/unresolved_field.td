// A field that cannot be resolved.
class A { int X; int Y = !add(X, 1); }
def D : A;
