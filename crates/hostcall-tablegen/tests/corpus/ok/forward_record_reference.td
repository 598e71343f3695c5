// A record is known by name from where it is defined on.
class A { A Next = ?; int V = 0; }
def First : A { let V = 1; }
def Second : A { let Next = First; let V = !add(Next.V, 1); }
def Third : A { let Next = Second; let V = !add(Next.V, 1); }
