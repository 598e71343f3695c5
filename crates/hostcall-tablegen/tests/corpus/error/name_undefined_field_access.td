// Reading a field that there is not.
class A { int X = 1; }
def R : A;
def D { int V = R.Y; }
