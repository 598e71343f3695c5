// In one body the last `let` wins, and inner `let ... in` comes after outer.
class A { int X = 0; }
let X = 1 in let X = 2 in def D : A;
def E : A { let X = 3; let X = 4; }
