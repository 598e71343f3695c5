// `foreach` over ranges, written in each way.
foreach i = 0-2 in def A # i;
foreach i = {1...2, 5} in def B # i;
foreach i = [0, 7] in def C # i;
foreach i = {3-1} in def D # i;
foreach i = 4 in def E # i;
foreach i = !range(1, 3) in def F # i;
