// The sides of `!if` share no type.
def D { int X = !if(1, 2, "s"); }
