// A regular expression that matches somewhere in a string.
def D { bit A = !match("hello", "l+"); bit B = !match("hello", "^lo"); bit C = !match("x42", "[0-9]+$"); }
