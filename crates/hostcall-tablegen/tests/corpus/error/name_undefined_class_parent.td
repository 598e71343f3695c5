// A parent that there is not.
def D : Nothing;
