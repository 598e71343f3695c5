// `!cast` of a name that no record has.
class A;
def D { A X = !cast<A>("Nowhere"); }
