// An assertion in a multiclass.
multiclass M<int n> {
  assert !gt(n, 0), "n must be positive";
  def _a;
}
defm D : M<0>;
