// An index is an integer.
def D { list<int> L = [1]; int Y = L["0"]; }
