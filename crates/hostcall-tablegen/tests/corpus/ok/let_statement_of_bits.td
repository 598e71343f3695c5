// `let ... in` of some bits of a field.
class A { bits<8> B = 0; }
let B<7-6, 0> = 0b111 in def D : A;
let B<3...1> = 0b101 in { def E : A; }
