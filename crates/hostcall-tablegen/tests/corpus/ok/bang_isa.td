// `!isa` asks for the class of a value.
class A; class B : A; def X : B; def Y : A;
def D { bit P = !isa<A>(X); bit Q = !isa<B>(Y); bit R = !isa<int>(4); bit S = !isa<string>("s"); list<bit> L = !foreach(v, [X, Y], !isa<B>(v)); }
