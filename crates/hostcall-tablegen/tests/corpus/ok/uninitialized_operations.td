// Operations over unset values stay as they are in classes, and are done when the value is there.
class A { int X; int Y = !add(X, 1); string S; string T = S # "x"; bit B = !eq(X, 3); }
def E : A { let X = 3; let S = "s"; }
