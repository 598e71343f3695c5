// `foreach` needs `in`.
foreach i = [1, 2] def D # i;
