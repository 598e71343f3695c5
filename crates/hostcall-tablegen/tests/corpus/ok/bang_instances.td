// `!instances` lists the records of a class, all or those that match a pattern.
class A<int v> { int V = v; }
def R1 : A<1>; def R2 : A<2>; def S1 : A<3>;
defvar all = !instances<A>();
defvar some = !instances<A>("R.*");
def D { list<A> All = all; list<A> Some = some; int N = !size(all); }
