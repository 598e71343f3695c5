// Ranges: to, from to, with a step, down, of a list.
def D { list<int> A = !range(3); list<int> B = !range(1, 4); list<int> C = !range(0, 10, 3); list<int> E = !range(4, 0, -2); list<int> F = !range(["a", "b"]); list<int> G = !range(3, 1); }
