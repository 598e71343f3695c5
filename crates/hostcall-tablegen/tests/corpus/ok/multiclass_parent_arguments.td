// Arguments of a multiclass handed to its parents and to classes named with it.
class Tag2<int n> { int T2 = n; }
class A<int x> { int X = x; } class Tag<string t> { string T = t; }
multiclass Base<int n, string t> { def _base : A<n>, Tag<t>; }
multiclass Mid<int n> : Base<!mul(n, 2), "mid" # n> { def _mid : A<n>; }
multiclass Top<int n = 1> : Mid<!add(n, 1)>, Base<n, "top"> { def _top : A<0>; }
multiclass Other<int n> { defm _in : Mid<n>, Tag2<n>; }
defm D : Mid<4>;
defm E : Other<6>;
