// Bitwise and logical.
def D { int A = !and(12, 10, 8); int B = !or(12, 3); int C = !xor(15, 5); bit E = !not(0); bit F = !not(7); bit G = !and(!eq(1, 1), !lt(2, 1)); bit H = !or(false, true); }
