// A set is a list.
class A;
defset A S = { def D : A; }
