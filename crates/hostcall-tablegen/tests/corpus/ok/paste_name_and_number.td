// Numbers in names keep no leading zeros; text does.
foreach i = [007, 8] in { def Num # i; }
foreach s = ["007", "08"] in { def Text # s; }
