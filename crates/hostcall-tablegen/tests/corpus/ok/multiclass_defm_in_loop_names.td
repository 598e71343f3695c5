// Names of records from loops in multiclasses in loops.
class A<int x, string n> { int X = x; string N = n; }
multiclass In<int x> { foreach j = [7, 8] in def "_" # j : A<!add(x, j), NAME>; }
multiclass Out<int x> { foreach i = [x, !add(x, 1)] in defm "i" # i : In<i>; defm NAME : In<0>; }
foreach k = ["P", "Q"] in defm k : Out<3>;
defm Z # 1 : Out<9>;
