// `defm` needs a multiclass.
multiclass M { def a; }
defm D;
