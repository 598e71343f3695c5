// A class cannot be its own parent.
class A : A;
