// Only the chosen side must have a meaning.
class P<list<int> l> { int First = !if(!empty(l), -1, !head(l)); }
def A : P<[]>;
def B : P<[4, 5]>;
