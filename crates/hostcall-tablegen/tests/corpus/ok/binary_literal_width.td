// A binary literal knows how many bits it has; leading zeros count.
def W {
  bits<6> Six = 0b000101;
  bits<3> Three = 0b111;
  int Value = 0b000101;
}
