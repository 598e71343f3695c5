// Fields that are computed from fields of records that are fields.
class Reg<int n> { int N = n; bits<5> Enc = n; } def R3 : Reg<3>; def R9 : Reg<9>;
class Op { Reg Dst = R3; int N = Dst.N; bits<5> E = Dst.Enc; bit Low = Dst.Enc{0}; bits<8> Inst; let Inst{4-0} = Dst.Enc; let Inst{7-5} = 0; }
def A : Op;
def B : Op { let Dst = R9; }
