// A list needs `]`.
def D { list<int> L = [1, 2; }
