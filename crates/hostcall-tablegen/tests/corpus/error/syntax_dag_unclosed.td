// A dag needs `)`.
def op;
def D { dag X = (op 1, 2; }
