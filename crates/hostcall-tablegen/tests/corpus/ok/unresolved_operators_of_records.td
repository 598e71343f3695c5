// How operators over unknown records are printed.
class B; class R<int v> { int V = v; B Other = ?; }
class A<R r, string s, R q> {
  int V = r.V; B Other = r.Other; string Name = !cast<string>(r); R Found = !cast<R>(s); int FoundV = !cast<R>(s # "x").V; bit IsA = !isa<B>(r); bit Exists = !exists<R>(s);
  bit Init = !initialized(r); bit Eq = !eq(r, q); R Subst = !subst(r, q, r); R Made = R<!size(s)>; int MadeV = R<!size(s)>.V;
}
