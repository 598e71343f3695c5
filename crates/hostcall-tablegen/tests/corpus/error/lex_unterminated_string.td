// A string must end on its line.
def D { string S = "abc;
}
