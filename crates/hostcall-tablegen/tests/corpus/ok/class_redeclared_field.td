// A field declared again in a derived class, with the same type.
class A { int X = 1; }
class B : A { int X = 2; }
def D : B;
