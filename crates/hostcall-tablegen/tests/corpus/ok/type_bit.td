// `bit` from literals and from integers, bits and comparisons.
def D { bit A = 0; bit B = 1; bit C = true; bit E = false; bit F = !eq(1, 1); bits<1> G = 1; bit H = G{0}; }
