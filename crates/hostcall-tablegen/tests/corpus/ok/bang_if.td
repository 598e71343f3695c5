// `!if` chooses; only the type of the result is shared.
class A { int V = 1; } class B : A; class C : A;
def X : B; def Y : C;
def D { int N = !if(1, 2, 3); string S = !if(!eq(1, 2), "y", "n"); A R = !if(0, X, Y); list<A> L = !if(1, [X], [Y]); int FromInt = !if(5, 1, 0); }
