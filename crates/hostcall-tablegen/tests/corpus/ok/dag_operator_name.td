// Reading and replacing the operator's name.
def op;
def D { dag A = (op:$o 1); string N = !getdagopname(A); dag B = !setdagopname(A, "p"); dag C = !setdagopname((op 2), "q"); }
