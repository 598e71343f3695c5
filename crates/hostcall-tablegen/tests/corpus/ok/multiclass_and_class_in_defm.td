// A `defm` may also name classes; every record made gets them.
class A { int X = 1; } class Extra<int e> { int E = e; }
multiclass M { def _a : A; def _b : A; }
defm D : M, Extra<7>;
