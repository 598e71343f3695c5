// `let` at the top needs `in`.
class A { int X; }
let X = 5
def D : A;
