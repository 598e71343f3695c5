// Choosing the record with the largest field.
class R<int v> { int V = v; } def a : R<4>; def b : R<9>; def c : R<2>;
def D { R Best = !foldl(a, [b, c], best, r, !if(!gt(r.V, best.V), r, best)); list<R> Sorted = !listconcat([c], [a], [b]); bit Same = !eq(Best, b); }
