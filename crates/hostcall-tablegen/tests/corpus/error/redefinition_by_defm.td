// `defm` makes a record that is there.
multiclass M { def _a; }
def X_a;
defm X : M;
