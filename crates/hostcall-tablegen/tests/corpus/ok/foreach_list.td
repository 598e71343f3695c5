// `foreach` over a list of strings, of integers, of records.
class A { int X = 1; }
def P : A;
def Q : A { let X = 2; }
foreach s = ["x", "y"] in def S_ # s;
foreach n = [3, 4] in { def N_ # n { int V = n; } }
foreach r = [P, Q] in def "R_" # r { int V = r.X; }
