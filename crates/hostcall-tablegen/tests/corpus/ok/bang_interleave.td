// Joining lists with something between.
def D { string A = !interleave(["a", "b", "c"], ", "); string B = !interleave([1, 2], "-"); string C = !interleave([]<string>, ","); string E = !interleave([0b1, 0b0], ""); }
