// `bits` needs a number.
class A { bits<x> B; }
