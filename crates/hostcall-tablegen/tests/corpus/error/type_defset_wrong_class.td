// A record of another class than the set's.
class A; class B;
defset list<A> S = { def D : B; }
