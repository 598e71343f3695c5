// A class that uses itself, to an end.
class Fact<int n> { int R = !if(!le(n, 1), 1, !mul(n, Fact<!if(!le(n, 1), 1, !sub(n, 1))>.R)); }
def D { int X = 5; }
