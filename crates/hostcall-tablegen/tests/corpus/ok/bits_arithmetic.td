// Bits where integers are wanted, and the other way round.
def D { bits<4> A = 0b1100; bits<4> B = 0b1010; int And = !and(A, B); bits<4> Or = !or(A, B); int Add = !add(A, B); bits<8> Shl = !shl(A, 4); bit Lt = !lt(A, B); bit Eq = !eq(A, 12); int If = !if(A{3}, 1, 2); string S = !cast<string>(A); }
