// Unset elements in lists.
def D { list<int> L = [1, ?, 3]; list<string> S = [?]; }
