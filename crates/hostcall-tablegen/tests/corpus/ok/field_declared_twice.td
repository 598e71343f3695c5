// A field may be declared twice in one body; the later value counts.
class A { int X = 1; int X = 2; }
