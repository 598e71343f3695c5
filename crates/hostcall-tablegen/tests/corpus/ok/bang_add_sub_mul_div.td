// Arithmetic, with as many operands as wanted.
def D { int A = !add(1, 2, 3); int B = !sub(5, 8); int C = !mul(2, 3, 7); int E = !div(17, 5); int F = !div(-17, 5); int G = !add(0x7fffffffffffffff, 1); bits<4> H = !add(3, 4); }
