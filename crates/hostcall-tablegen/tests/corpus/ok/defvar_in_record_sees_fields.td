// A `defvar` in a body may use the fields above it.
class A { int X = 1; }
def D : A { let X = 5; defvar y = X; int Y = y; let X = 6; }
