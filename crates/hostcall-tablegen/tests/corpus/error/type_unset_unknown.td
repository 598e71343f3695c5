// What `!foldl` begins with needs a type.
def D { list<int> L = !foldl(?, [1], a, x, a); }
