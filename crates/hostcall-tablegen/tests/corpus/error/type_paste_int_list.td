// A list cannot be joined with an integer.
def D { list<int> L = [1] # 2; }
