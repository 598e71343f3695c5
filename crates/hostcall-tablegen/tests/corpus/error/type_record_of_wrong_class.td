// A record of an unrelated class.
class A; class B;
def X : B;
def D { A F = X; }
