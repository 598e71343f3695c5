// `!cast` from a base class to a derived one, and between integers and bits.
class A; class B : A { int V = 3; }
def X : B;
def D { A Base = X; B Down = !cast<B>(Base); int V = !cast<B>(Base).V; int I = !cast<int>(0b101); bits<4> J = !cast<bits<4>>(5); }
