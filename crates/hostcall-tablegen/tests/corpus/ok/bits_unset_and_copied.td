// Unset bits that are copied, and bits set twice.
class A { bits<4> X; bits<4> Y = X; bits<8> Z = { X, Y }; let Z{7} = 1; let Z{7} = 0; }
def D : A { let X{1} = 1; }
def E : A { let X = 0b1001; let Y{0} = 0; }
