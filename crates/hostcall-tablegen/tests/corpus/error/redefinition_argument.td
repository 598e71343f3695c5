// An argument is named once.
class A<int a, int a> {}
