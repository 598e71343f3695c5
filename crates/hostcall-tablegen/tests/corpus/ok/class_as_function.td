// A class used as a function: an anonymous record of which only a field is read.
class Max<int a, int b> { int R = !if(!gt(a, b), a, b); }
def D { int M = Max<4, 9>.R; int N = Max<Max<1, 2>.R, 0>.R; }
