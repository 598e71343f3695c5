// A bit is 0 or 1.
def D { bit B = 2; }
