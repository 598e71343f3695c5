// An argument without default must be given.
class A<int a, int b> { int X = a; int Y = b; }
def D : A<1>;
