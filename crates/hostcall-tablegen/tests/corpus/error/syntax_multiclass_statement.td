// A class cannot be in a multiclass.
multiclass M { class A; }
