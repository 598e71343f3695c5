// Equality of integers, strings, bits, lists of bits and records.
class A; def X : A; def Y : A;
def D { bit A1 = !eq(3, 3); bit B = !eq("a", "b"); bit C = !eq(X, X); bit E = !ne(X, Y); bit F = !ne(1, 2); bit G = !eq(0b11, 3); bit H = !eq("", ""); }
