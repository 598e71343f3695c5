// A bit beyond the value.
def D { bits<2> B = 1; bit X = B{2}; }
