// A bit that the field has not.
class A { bits<4> B; }
def D : A { let B{4} = 1; }
