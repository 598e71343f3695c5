// `NAME` in a class, and what is made of it.
class A<string s = NAME> { string S = s; string N = NAME # "_x"; string Low = !tolower(NAME); }
class B : A { string T = "own"; }
