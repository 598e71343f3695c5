// `!dag` makes a dag from lists.
def op; def P; def Q;
def D { dag A = !dag(op, [P, Q], ["x", "y"]); dag B = !dag(op, [1, 2, 3], ["a", ?, "c"]); dag C = !dag(op, [P, Q], ?); dag E = !dag(op, ?, ["n", "m"]); }
