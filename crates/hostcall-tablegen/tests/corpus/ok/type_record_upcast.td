// A record of a derived class where the base is wanted.
class A { int V = 1; }
class B : A { int W = 2; }
def X : B;
class Wants<A a> { A Held = a; int V = a.V; }
def D : Wants<X>;
