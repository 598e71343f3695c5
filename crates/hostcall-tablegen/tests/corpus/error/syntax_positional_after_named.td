// Positional arguments come before named ones.
class A<int a, int b> {}
def D : A<b = 1, 2>;
