// A class may be declared before it is defined, and be the type of a field meanwhile.
class Node;
class Holder { Node Child = ?; }
class Node { int Weight = 3; }
def N : Node;
def H : Holder { let Child = N; }
