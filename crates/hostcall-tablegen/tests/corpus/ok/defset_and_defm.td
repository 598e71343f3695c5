// `defset` collects what `defm` makes.
class A<int x> { int X = x; }
multiclass M<int n> { def _lo : A<n>; def _hi : A<!add(n, 100)>; }
defset list<A> All = { defm One : M<1>; defm Two : M<2>; }
def D { list<string> Names = !foreach(a, All, !cast<string>(a)); }
