// `#` joins lists.
class A { list<int> L = [1] # [2, 3] # []<int>; }
def D : A { list<int> M = L # [4]; }
