// `!cast` finds a record of another class.
class A; class B;
def R : B;
def D { A X = !cast<A>("R"); }
