// Bytes that are not ASCII stay as they are.
def D { string S = "grün – 日本"; }
