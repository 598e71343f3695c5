// A string where an integer belongs.
class A { int X = "s"; }
