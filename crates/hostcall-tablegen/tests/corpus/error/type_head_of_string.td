// A string has no head.
def D { string S = !head("abc"); }
