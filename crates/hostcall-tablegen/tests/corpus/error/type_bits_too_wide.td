// More bits than the field has.
def D { bits<3> B = { 1, 1, 1, 1 }; }
