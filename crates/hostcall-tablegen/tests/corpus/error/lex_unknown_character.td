// A character that begins no token.
def D { int X = 1 @ 2; }
