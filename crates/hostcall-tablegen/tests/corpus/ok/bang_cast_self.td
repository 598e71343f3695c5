// A record may look itself up by name.
class A { string Me = NAME; A Self = !cast<A>(NAME); }
def X : A;
