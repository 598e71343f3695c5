// Letters' case in hexadecimal numbers, and wide ones.
def D { int A = 0xABCDEF; int B = 0xabcdef; bits<64> C = 0x8000000000000001; bits<70> E = 1; }
