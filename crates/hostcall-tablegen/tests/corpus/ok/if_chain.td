// `else if`.
foreach i = 0...3 in {
  if !eq(i, 0) then def Zero;
  else if !eq(i, 1) then { def One; }
  else def Many # i;
}
