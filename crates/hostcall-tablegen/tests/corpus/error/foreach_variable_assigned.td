// A loop's variable is not a field.
foreach i = [1] in { def D { let i = 2; } }
