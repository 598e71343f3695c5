// Where a string lies in another.
def D { int A = !find("abcabc", "c"); int B = !find("abcabc", "c", 3); int C = !find("abc", "x"); int E = !find("abc", ""); }
