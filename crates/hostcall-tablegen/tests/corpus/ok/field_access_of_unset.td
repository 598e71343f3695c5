// A field of a record that is set later.
class R { int V = 5; } class A { R F = ?; int V = F.V; } def r : R;
def D : A { let F = r; }
