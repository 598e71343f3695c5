// `:` needs a class.
class A : { }
