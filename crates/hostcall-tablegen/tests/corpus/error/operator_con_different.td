// `!con` of different operators.
def a; def b;
def D { dag X = !con((a 1), (b 2)); }
