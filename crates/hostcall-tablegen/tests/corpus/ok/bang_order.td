// Order of integers and of strings.
def D { bit A = !lt(1, 2); bit B = !le(2, 2); bit C = !gt(-1, 1); bit E = !ge(3, 4); bit F = !lt("abc", "abd"); bit G = !ge("b", "a"); bit H = !lt("", "a"); bit I = !gt("Z", "a"); }
