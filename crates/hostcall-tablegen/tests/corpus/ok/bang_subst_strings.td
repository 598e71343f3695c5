// Replacing text.
def D { string A = !subst("a", "b", "banana"); string B = !subst("x", "y", "banana"); string C = !subst("an", "", "banana"); string E = !subst("aa", "a", "aaaa"); }
