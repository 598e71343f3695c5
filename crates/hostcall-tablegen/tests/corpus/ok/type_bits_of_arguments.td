// Bits of template arguments and of bits made of bits.
class Enc<bits<4> op, bits<2> mode> { bits<8> Inst; let Inst{7-4} = op; let Inst{3-2} = mode; let Inst{1-0} = { op{0}, mode{1} }; }
def A : Enc<0b1001, 0b10>;
def B : Enc<5, 1>;
