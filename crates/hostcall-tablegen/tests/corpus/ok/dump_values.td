// `dump` of values of each kind.
class A<int x> { int X = x; } def R : A<1>;
dump "text"; dump !repr(R); dump "n = " # 4; dump !repr([1, 2]);
foreach i = [1, 2] in dump "i is " # i;
