// Anonymous records in a class are made anew for each record, if they depend on it.
class P<int x, string s = ""> { int X = x; string S = s; }
class A<int n> { P Fixed = P<1>; P Given = P<n>; string Name = "n"; P Late = P<2, Name>; }
def D : A<5>;
def E : A<5> { let Name = "e"; }
