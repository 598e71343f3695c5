// A range of bits may run either way.
class A { bits<4> V = 0; bits<4> W = 0; }
def D : A { bits<4> Src = 0b0011; let V{0-3} = Src; let W{3-0} = Src; }
