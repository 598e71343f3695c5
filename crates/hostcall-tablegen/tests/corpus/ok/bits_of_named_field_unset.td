// Bits that refer to an unset field are printed by name.
class I { bits<6> Imm; bits<10> Inst; let Inst{9-4} = Imm; let Inst{3} = Imm{5}; let Inst{2-0} = ?; }
def D : I;
