// `let` in a class and in a record.
class A { int X = 1; list<int> L = [1]; }
class B : A { let X = 2; let L = [2, 3]; }
def D : B { let L = [4]; }
