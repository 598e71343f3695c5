// A class is defined once.
class A { int X; }
class A { int Y; }
