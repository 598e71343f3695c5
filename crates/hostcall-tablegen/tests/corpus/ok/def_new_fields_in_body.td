// A record may have fields that no class has.
class A { int X = 1; }
def D : A { int Y = X; string Z = "z"; let X = 9; }
