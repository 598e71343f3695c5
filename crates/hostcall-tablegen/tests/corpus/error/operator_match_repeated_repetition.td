// A repetition cannot be repeated.
def D { bit X = !match("a", "a*?"); }
