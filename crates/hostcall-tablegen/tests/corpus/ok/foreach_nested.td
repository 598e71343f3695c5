// Loops in loops; the inner one may use the outer one's variable.
foreach i = 0...1 in
  foreach j = [i, !add(i, 5)] in
    def N # i # _ # j { int I = i; int J = j; }
