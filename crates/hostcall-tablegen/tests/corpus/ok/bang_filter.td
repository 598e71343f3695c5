// `!filter` keeps what fulfils a condition.
def D { list<int> L = !filter(x, [1, 2, 3, 4], !gt(x, 2)); list<string> S = !filter(s, ["", "a"], !not(!empty(s))); list<int> N = !filter(x, [1], 0); }
