// More bits than the range has.
class A { bits<8> B; }
def D : A { let B{1-0} = { 1, 1, 1 }; }
