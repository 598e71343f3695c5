// A multiclass that there is not.
defm D : Nothing;
