// A number beyond the arguments.
def op;
def D { int X = !getdagarg<int>((op 1), 1); }
