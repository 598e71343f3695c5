// A part of a string.
def D { string A = !substr("abcdef", 2); string B = !substr("abcdef", 1, 3); string C = !substr("abc", 3); string E = !substr("abc", 0, 99); }
