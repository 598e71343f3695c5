// A bit that cannot be resolved.
class A { int X; bit B = !eq(X, 1); }
def D : A;
