// A parent is named once.
class A;
def D : A, A;
