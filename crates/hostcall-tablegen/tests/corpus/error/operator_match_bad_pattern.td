// A pattern that does not compile.
def D { bit X = !match("a", "(["); }
