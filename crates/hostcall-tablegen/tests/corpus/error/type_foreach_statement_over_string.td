// `foreach` over a string.
foreach s = "abc" in def D;
