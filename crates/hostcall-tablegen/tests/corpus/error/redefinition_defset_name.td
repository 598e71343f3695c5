// A set's name must be free.
class A;
def S : A;
defset list<A> S = {}
