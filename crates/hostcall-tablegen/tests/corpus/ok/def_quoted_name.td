// A name may be a string.
def "spaced name";
def "With(parens, 2)" { int X = 1; }
