// A list literal may say the type of its elements.
class A; class B : A;
def X : B; def Y : B;
def D { list<int> E = []<int>; list<A> L = [X, Y]<A>; list<string> S = ["a",]<string>; }
