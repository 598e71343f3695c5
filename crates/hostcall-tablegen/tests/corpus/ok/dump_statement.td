// `dump` writes to the error stream and changes nothing.
dump "top";
class A<int x> { int X = x; dump "x is " # X; }
def D : A<3>;
