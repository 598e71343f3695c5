// The same class with the same arguments is the same anonymous record.
class P<int x> { int X = x; }
def A { P One = P<1>; P Again = P<1>; P Other = P<2>; }
