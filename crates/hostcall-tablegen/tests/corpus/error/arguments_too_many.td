// More arguments than the class has.
class A<int a> { int X = a; }
def D : A<1, 2>;
