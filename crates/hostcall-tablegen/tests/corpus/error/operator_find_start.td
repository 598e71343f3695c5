// A start beyond the end.
def D { int X = !find("abc", "a", 4); }
