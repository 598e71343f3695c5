// `assert` in a multiclass is checked for each `defm`.
multiclass M<int n> { assert !gt(n, 0), "n must be positive"; def _a { int N = n; } }
defm D : M<1>;
