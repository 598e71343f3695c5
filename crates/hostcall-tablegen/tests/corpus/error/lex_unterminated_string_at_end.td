// A string that ends with the file.
def D { string S = "abc
