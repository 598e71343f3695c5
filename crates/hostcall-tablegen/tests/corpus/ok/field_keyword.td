// The word `field` before a type.
class A { field bits<4> Inst = 0; field int N = 1; int Plain = 2; }
def D : A { let Inst = 0b1010; }
