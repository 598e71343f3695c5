// A list of a derived class is a list of its base.
class A { int V = 0; }
class B : A { let V = 1; }
class C : A { let V = 2; }
def X : B; def Y : C;
def D { list<B> Bs = [X]; list<A> As = Bs; list<A> Mixed = [X, Y]; }
