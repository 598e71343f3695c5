// `let` in a body needs `=`.
class A { int X; let X 5; }
