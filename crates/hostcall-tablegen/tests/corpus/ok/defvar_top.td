// `defvar` at the top: seen below it, by value.
defvar N = 4;
defvar L = [N, !add(N, 1)];
defvar S = "s" # N;
def D { int X = N; list<int> Y = L; string Z = S; }
