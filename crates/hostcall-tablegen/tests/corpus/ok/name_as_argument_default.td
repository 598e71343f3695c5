// `NAME` in the default of an argument.
class A<string n = NAME> { string N = n; }
def Given : A<"other">;
def Own : A;
