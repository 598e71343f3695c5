// Lists: empty, with a trailing comma, of one, of many.
def D { list<int> A = []; list<int> B = [1, 2, 3,]; list<string> C = ["x"]; list<dag> E = []; }
