// `let` with a value of the wrong type.
class A { int X; }
def D : A { let X = "s"; }
