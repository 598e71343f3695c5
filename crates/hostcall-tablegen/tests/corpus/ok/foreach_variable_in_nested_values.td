// A loop's variable in lists, dags, anonymous records and code.
class P<int x> { int X = x; } def op;
foreach i = [1, 2] in { def D # i { list<int> L = [i, !add(i, 1)]; dag G = (op i:$a, P<i>); P R = P<i>; string S = "s" # i; bits<4> B = i; } }
