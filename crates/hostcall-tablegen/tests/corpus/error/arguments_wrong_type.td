// An argument of the wrong type.
class A<int a> { int X = a; }
def D : A<"s">;
