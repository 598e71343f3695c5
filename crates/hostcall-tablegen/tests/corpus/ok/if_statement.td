// `if` at the top, with and without `else`.
defvar On = true;
if On then def A;
if !not(On) then def B; else def C;
if !eq(1, 2) then { def D; } else { def E; def F; }
