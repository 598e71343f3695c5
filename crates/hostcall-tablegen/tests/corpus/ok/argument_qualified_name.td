// An argument keeps its value where a field of a parent has the same name.
class A<int X> { int Y = X; } class B<int X> : A<!add(X, 1)> { int Z = X; }
def D : B<1>;
