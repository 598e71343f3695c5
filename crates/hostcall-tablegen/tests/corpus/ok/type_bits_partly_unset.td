// Bits of which only some are known; and bits that refer to another field's.
class Enc { bits<4> Reg; bits<8> Inst; let Inst{7-4} = 0b0011; let Inst{3-0} = Reg; }
def A : Enc;
def B : Enc { let Reg = 0b0110; }
