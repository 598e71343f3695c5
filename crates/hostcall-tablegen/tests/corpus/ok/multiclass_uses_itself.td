// A multiclass that uses itself sees what it holds so far.
multiclass M<int n> { defm _x : M<!add(n, 1)>; }
defm D : M<0>;
