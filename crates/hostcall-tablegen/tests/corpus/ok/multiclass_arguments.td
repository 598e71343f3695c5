// Arguments, with defaults and by name.
class A<int x, string s> { int X = x; string S = s; }
multiclass M<int n, string s = "d"> { def _one : A<n, s>; def _two : A<!add(n, 1), s # s>; }
defm P : M<1>;
defm Q : M<5, "q">;
defm R : M<s = "r", n = 7>;
