// `let ... in` around one definition.
class A { int X = 1; int Y = 1; }
let X = 5 in
def D : A;
def E : A;
