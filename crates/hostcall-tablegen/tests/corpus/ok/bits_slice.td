// Slices of bits in every way of writing.
def D { bits<8> V = 0b11010010; bits<3> A = V{7-5}; bits<3> B = V{5...7}; bit C = V{1}; bits<4> E = V{0, 1, 6, 7}; bits<2> F = V{4, 3}; }
