// Which `let` wins: in the body of a record, around a record, around the `defm`.
class A { int X = 0; int Y = 0; int Z = 0; }
multiclass M { let X = 1, Y = 1 in def _a : A { let X = 2; } def _b : A; }
let X = 3, Z = 3 in defm P : M;
let X = 4 in { let X = 5 in defm Q : M; defm R : M; }
