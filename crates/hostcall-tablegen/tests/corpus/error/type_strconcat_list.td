// `!strconcat` of a list.
def D { string S = !strconcat("a", ["b"]); }
