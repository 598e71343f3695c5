// `NAME` in a class is the name of the record.
class A { string N = NAME; string Low = !tolower(NAME); }
def First : A;
def : A;
