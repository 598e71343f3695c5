// `#` joins strings, converts integers, and takes plain names as text.
defvar s = "S";
def D { string A = "a" # "b"; string B = "n" # 4; string C = s # s; string E = "x" # _y; string F = "p" # "q" # "r"; }
