// `!exists` asks whether a record of a class is there.
class A; class B; def X : A;
def D { bit P = !exists<A>("X"); bit Q = !exists<B>("X"); bit R = !exists<A>("Nowhere"); }
