// A class with a parent cannot be defined again.
class P;
class A : P;
class A : P;
