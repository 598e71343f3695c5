// `!cast` finds a record by its name.
class A<int v> { int V = v; }
def R1 : A<1>; def R2 : A<2>;
def D { A One = !cast<A>("R1"); int Two = !cast<A>("R" # 2).V; list<A> All = !foreach(i, [1, 2], !cast<A>("R" # i)); }
