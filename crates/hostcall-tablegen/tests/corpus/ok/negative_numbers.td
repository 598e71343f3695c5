// Signs belong to numbers; an operator takes them too.
def D { int A = -1; int B = !add(1, -2); list<int> L = [-1, +2]; int C = !sub(-3, -4); bits<4> E = -1; bits<4> F = -8; }
