// Strings joined.
def D { string A = !strconcat("a", "b", "c"); string B = !strconcat("x" # 1, "y"); code C = !strconcat([{a}], "b"); }
