// An inner `defvar` hides an outer one of the same name.
defvar V = "outer";
def A { string S = V; }
class C { defvar V = "inner"; string S = V; }
def B : C;
foreach i = [0] in { defvar V = "loop"; def D { string S = V; } }
def E { string S = V; }
