// `let` of a field that there is not.
class A { int X; }
def D : A { let Y = 1; }
