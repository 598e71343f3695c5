// `if` decides by the arguments of a multiclass.
multiclass M<bit wide> {
  def _always;
  if wide then def _wide;
  else { def _narrow; }
}
defm A : M<1>;
defm B : M<0>;
