// Bits of a field that has none.
class A { string S; }
def D : A { let S{1-0} = 1; }
