// Zero has no logarithm.
def D { int X = !logtwo(0); }
