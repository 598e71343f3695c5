// `$` needs a name.
def op;
def D { dag X = (op 1:$); }
