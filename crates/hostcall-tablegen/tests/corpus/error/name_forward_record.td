// A record cannot be named before it is defined.
class A { A Next = ?; }
def D : A { let Next = Later; }
def Later : A;
