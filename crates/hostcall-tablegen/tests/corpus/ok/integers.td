// Decimal, signed, hexadecimal and binary integers, to the ends of 64 bits.
def Numbers {
  int Zero = 0;
  int Plus = +7;
  int Minus = -7;
  int Hex = 0xfF;
  int Binary = 0b1011;
  int Most = 9223372036854775807;
  int Least = -9223372036854775808;
  int AllOnes = 0xFFFFFFFFFFFFFFFF;
}
