// The logarithm, rounded down.
def D { int A = !logtwo(1); int B = !logtwo(1024); int C = !logtwo(1000); }
