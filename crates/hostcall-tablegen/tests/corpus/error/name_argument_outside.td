// An argument is known in its class only.
class A<int x> { int X = x; }
def D : A<1> { int Y = x; }
