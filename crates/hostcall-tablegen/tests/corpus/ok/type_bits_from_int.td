// An integer becomes bits; bits become an integer.
def D { bits<8> A = 0xA5; int B = A; bits<4> C = 5; int E = C; int F = A{7-4}; bits<8> Minus = -1; }
