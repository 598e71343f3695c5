// An `else` belongs to the nearest `if`.
foreach i = 0...3 in
  if !lt(i, 2) then if !eq(i, 0) then def A # i; else def B # i;
