// A default cannot use the arguments after it.
class A<int a = b, int b = 1> { int X = a; }
