// Two fields, each made of the other.
class A { int X = 1; int Y = 1; }
def D : A { let X = !add(Y, 1); let Y = !add(X, 1); }
