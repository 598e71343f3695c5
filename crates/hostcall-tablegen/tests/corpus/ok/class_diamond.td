// The same class is reached along two ways.
class Root { int R = 0; }
class Left : Root { let R = 1; }
class Right : Root { int Q = 5; }
def D : Left, Right;
