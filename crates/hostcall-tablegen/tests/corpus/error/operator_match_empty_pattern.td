// An empty pattern is none.
def D { bit X = !match("a", ""); }
