// A multiclass is no parent of a record.
multiclass M { def a; }
def D : M;
