// Lists of lists, and of lists of records.
class P<int x> { int X = x; }
def D { list<list<int>> L = [[1, 2], [], [3]]; list<list<P>> R = [[P<1>], [P<2>, P<3>]]; }
