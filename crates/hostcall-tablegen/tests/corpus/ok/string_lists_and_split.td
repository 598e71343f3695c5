// Taking a string apart with recursion through a class.
class Split<string s> { int At = !find(s, ","); list<string> L = !if(!lt(At, 0), [s], !listconcat([!substr(s, 0, At)], Split<!substr(s, !add(At, 1))>.L)); }
def D { list<string> Parts = Split<"a,bc,,d">.L; }
