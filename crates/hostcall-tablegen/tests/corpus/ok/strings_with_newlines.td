// Strings that hold line breaks, tabs and quotes, in lists and dags.
def op;
def D { list<string> L = ["a\nb", "\t", "\""]; dag G = (op "a\"b":$q); string S = "\\n"; }
