// A record of a multiclass names another of the same `defm`.
class A { A Other = ?; }
multiclass M { def _a : A; def _b : A { let Other = !cast<A>(NAME # "_a"); } }
defm D : M;
defm E : M;
