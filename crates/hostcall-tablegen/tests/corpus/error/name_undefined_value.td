// A name that stands for nothing.
def D { int X = nothing; }
