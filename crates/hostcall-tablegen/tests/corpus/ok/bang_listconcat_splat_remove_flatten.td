// Lists made of lists.
def D { list<int> A = !listconcat([1], [2, 3], []<int>); list<int> B = !listsplat(7, 3); list<int> C = !listremove([1, 2, 3, 2], [2]); list<int> E = !listflatten([[1], [2, 3], []<int>]); list<string> F = !listsplat("x", 0); }
