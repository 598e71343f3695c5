// A decimal integer of more than 64 bits.
def D { int X = 99999999999999999999; }
