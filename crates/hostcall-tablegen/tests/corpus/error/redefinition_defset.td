// A set is defined once.
class A;
defset list<A> S = {}
defset list<A> S = {}
