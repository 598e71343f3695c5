// An integer of more than 64 bits.
def D { int X = 0x12345678123456789; }
