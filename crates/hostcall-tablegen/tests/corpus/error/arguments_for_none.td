// Arguments for a class that has none.
class A;
def D : A<1>;
