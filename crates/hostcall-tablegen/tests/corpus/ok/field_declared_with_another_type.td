// A derived class may declare a field again with another type.
class A { int X; }
class B : A { string X; }
