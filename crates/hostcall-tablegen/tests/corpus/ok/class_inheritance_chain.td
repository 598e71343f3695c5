// Fields and values come down a chain of classes.
class A { int X = 1; int Y = 1; }
class B : A { let X = 2; }
class C : B { let Y = X; }
def D : C;
