// `let ... in` reaches fields of the classes defined in it, and of records made from them.
class A { int X = 1; }
let X = 2 in class B : A;
let X = 3 in def C : B;
def D : B;
