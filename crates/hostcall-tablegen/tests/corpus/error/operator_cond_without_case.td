// No case of `!cond` holds.
def D { int X = !cond(0: 1, 0: 2); }
