// `defvar` in a multiclass.
class A<string s> { string S = s; }
multiclass M<int n> { defvar t = "n" # n; def _a : A<t>; foreach i = [1] in { defvar u = t # i; def _b : A<u>; } }
defm D : M<3>;
