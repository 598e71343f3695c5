// A list of less than no elements.
def D { list<int> L = !listsplat(1, -1); }
