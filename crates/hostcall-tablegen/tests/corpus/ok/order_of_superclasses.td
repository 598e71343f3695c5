// Superclasses in the order in which they are reached.
class A; class B : A; class C : A; class D : C, B; class E;
def X : E, D;
