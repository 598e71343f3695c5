// `!cond` takes the first case that holds.
class P<int x> { string S = !cond(!lt(x, 0): "negative", !eq(x, 0): "zero", true: "positive"); int N = !cond(x: 1, 1: 2); }
def A : P<-4>;
def B : P<0>;
def C : P<9>;
