// A type that there is not.
class A { Nothing X; }
