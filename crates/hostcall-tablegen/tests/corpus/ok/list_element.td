// An element of a list, by a number and by a value.
def D { list<string> L = ["a", "b", "c"]; string S = L[1]; int I = 2; string T = L[I]; list<list<int>> M = [[1, 2], [3, 4]]; int Deep = M[1][0]; }
