// `!foreach` over the arguments of a dag.
class A<int v> { int V = v; }
def op; def P : A<1>; def Q : A<2>;
def D { dag In = (op P:$p, Q:$q); dag Out = !foreach(x, In, !if(!isa<A>(x), !cast<string>(x), "no")); }
