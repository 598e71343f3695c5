// `let ... in` of a field that there is not.
class A { int X; }
let Y = 1 in
def D : A;
