multiclass P<int b> { def _p { int B = b; } }
multiclass C<string x> : P<x> { def _c; }
defm D : C<"a">;
