// A number beyond the arguments.
def op;
def D { dag X = !setdagname((op 1), 3, "b"); }
