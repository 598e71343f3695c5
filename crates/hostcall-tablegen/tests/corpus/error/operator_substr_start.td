// A start beyond the end.
def D { string S = !substr("abc", 4); }
