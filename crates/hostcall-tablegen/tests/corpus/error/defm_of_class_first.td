// `defm` names a multiclass first.
class A;
defm D : A;
