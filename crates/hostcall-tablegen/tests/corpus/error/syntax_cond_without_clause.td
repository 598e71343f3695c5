// `!cond` needs a clause.
def D { int X = !cond(); }
