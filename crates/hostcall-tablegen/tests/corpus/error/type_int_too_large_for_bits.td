// An integer that needs more bits.
def D { bits<3> B = 8; }
