// Loops in a multiclass, over its arguments.
class A<int x> { int X = x; }
multiclass M<list<int> l, string p> { foreach i = l in def p # i : A<i>; }
defm D : M<[1, 4], "_v">;
