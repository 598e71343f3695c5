// `!cast` may name a record that comes later, when it is resolved later.
class A { int V = 5; }
class Finds<string n> { A Found = !cast<A>(n); }
class Holder<string n> { string Name = n; A Found = !cast<A>(Name); }
def L : A;
def D : Finds<"L">;
def E : Holder<"L">;
