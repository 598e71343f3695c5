// A list cannot be pasted to a string where a list belongs.
class A { list<int> L = "s" # [1]; }
