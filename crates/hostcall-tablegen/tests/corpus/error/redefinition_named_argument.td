// An argument is given once.
class A<int a, int b = 1> {}
def D : A<1, a = 2>;
