// `<>` needs an argument.
class A<> { }
