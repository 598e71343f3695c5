// `=` without a value.
class A { int X = ; }
