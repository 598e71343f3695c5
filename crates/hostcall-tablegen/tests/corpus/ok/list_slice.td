// Slices of lists in every way of writing.
def D {
  list<int> L = [10, 11, 12, 13, 14];
  list<int> A = L[1...3];
  list<int> B = L[3-1];
  list<int> C = L[0, 4];
  list<int> E = L[2,];
  list<int> F = L[0, 2...3, 1];
  list<int> G = L[!range(0, 5, 2)];
}
