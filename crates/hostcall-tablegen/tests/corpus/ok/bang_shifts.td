// Shifts.
def D { int A = !shl(1, 10); int B = !srl(-1, 60); int C = !sra(-16, 2); int E = !shl(3, 63); }
