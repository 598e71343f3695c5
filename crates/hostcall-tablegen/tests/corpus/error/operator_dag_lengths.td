// `!dag` of lists of different lengths.
def op;
def D { dag X = !dag(op, [1, 2], ["a"]); }
