// An argument needs a name.
class A<int> { }
