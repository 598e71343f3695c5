// `let` of some bits of a field.
class A { bits<8> Inst = 0; bits<8> Other; }
def D : A {
  bits<4> Op = 0b1001;
  let Inst{7-4} = Op;
  let Inst{0} = 1;
  let Other{7...6} = 0b10;
  let Other{2, 0} = 0b11;
}
