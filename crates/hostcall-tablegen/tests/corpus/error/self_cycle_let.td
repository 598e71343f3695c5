// A field made of itself.
class A { int X = 1; }
def D : A { let X = !add(X, 1); }
