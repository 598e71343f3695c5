// A name of a name.
class A { int V = 1; }
deftype Row = list<A>;
deftype Rows = list<Row>;
def X : A;
def D { Row One = [X]; Rows All = [[X], []]; }
