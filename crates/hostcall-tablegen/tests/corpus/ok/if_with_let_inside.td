// `let` in `if` in `let`.
class A { int X = 0; int Y = 0; }
let X = 1 in { if true then { let Y = 2 in def P : A; } else { def Never : A; } def Q : A; }
