// A length below zero.
def D { string S = !substr("abc", 0, -1); }
