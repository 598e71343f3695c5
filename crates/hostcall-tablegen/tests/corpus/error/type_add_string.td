// `!add` of a string.
def D { int X = !add(1, "2"); }
