// A trailing `#` before something that cannot continue a value.
class P<string s> { string S = s; }
defvar x = "v";
def A # x # "" : P<x # "">;
