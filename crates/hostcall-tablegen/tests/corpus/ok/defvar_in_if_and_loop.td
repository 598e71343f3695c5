// Variables in the bodies of `if` and `foreach` end with them.
foreach i = [1, 2] in { defvar twice = !mul(i, 2); if !eq(twice, 4) then { defvar name = "four"; def name # "X"; def A # twice { string N = name; } } else def B # twice; }
