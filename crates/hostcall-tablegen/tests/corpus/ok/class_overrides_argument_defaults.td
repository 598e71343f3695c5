// Arguments handed on through several classes.
class A<int a, int b = !mul(a, 2)> { int X = a; int Y = b; }
class B<int n> : A<!add(n, 1)> { let Y = !add(X, 100); }
class C<int m = 3> : B<m> { let Y = 7; }
def D : C;
def E : C<10>;
