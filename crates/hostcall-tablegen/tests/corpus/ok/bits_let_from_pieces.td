// An encoding put together from several fields.
class Inst { bits<16> Enc; bits<5> Rd; bits<5> Rs; bits<6> Op = 0; let Enc{15-10} = Op; let Enc{9-5} = Rs; let Enc{4-0} = Rd; }
def ADD : Inst { let Op = 0x21; let Rd = 3; let Rs = 0b10001; }
def NOP : Inst { let Enc = 0; }
