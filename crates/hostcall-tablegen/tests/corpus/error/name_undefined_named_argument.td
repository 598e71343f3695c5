// An argument name that there is not.
class A<int a> {}
def D : A<b = 1>;
