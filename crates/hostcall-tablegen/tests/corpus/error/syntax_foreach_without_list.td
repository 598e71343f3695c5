// `foreach` needs a list.
foreach i = in def D;
