// `NAME` in a multiclass is the name that the `defm` gives.
class A<string s> { string S = s; }
multiclass M { def NAME : A<NAME>; def "Before" # NAME : A<"x">; def NAME # "After" : A<NAME # "!">; def _plain : A<NAME>; }
defm N : M;
