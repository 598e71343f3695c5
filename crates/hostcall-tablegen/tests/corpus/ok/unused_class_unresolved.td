// A class keeps its unresolved expressions.
class P<int x, string s = "d"> { int X = !add(x, 1); string S = !strconcat(s, "-", s); bits<4> B = { 0, 0, 1, 1 }; list<int> L = !listconcat([x], [X]); }
