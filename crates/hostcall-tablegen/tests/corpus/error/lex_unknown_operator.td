// A bang operator that there is not.
def D { int X = !frobnicate(1); }
