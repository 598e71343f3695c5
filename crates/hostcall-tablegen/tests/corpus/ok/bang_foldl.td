// `!foldl` accumulates.
def D { int Sum = !foldl(0, [1, 2, 3], acc, x, !add(acc, x)); string S = !foldl("", ["a", "b"], acc, x, acc # x); list<int> R = !foldl([]<int>, [1, 2], acc, x, [x] # acc); }
