// Fields that need each other.
class A { int X = Y; }
