// A multiclass needs a body, or a parent.
multiclass M;
