// A clause needs `:`.
def D { int X = !cond(1, 2); }
