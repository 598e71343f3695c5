// What `defvar` and `defset` name are no records.
class A;
defvar v = 5;
defset list<A> s = { def X : A; }
