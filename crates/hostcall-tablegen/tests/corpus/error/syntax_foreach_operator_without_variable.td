// `!foreach` needs a variable.
def D { list<int> L = !foreach(1, [1], 2); }
