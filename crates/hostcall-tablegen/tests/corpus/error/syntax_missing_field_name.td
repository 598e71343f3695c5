// A type without a name.
class A { int = 3; }
