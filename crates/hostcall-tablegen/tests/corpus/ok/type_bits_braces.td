// Bits written one by one, most significant first; wider pieces count their width.
def D {
  bits<4> A = { 1, 0, 1, 0 };
  bits<4> B = { 0b10, 1, 1 };
  bits<2> C = A{2-1};
  bits<6> E = { C, A };
  bits<3> F = { 1, ?, 0 };
}
