// A name that no argument has.
def op;
def D { int X = !getdagarg<int>((op 1:$a), "b"); }
