// How operators over unknown lists are printed.
class A<list<int> l, list<string> s, int n, list<list<int>> ll> {
  list<int> Concat = !listconcat(l, [1, 2]); list<int> Paste = l # [n]; list<int> Splat = !listsplat(n, 2); list<int> Remove = !listremove(l, [1]); list<int> Flat = !listflatten(ll);
  int Head = !head(l); list<int> Tail = !tail(l); int Size = !size(l); bit Empty = !empty(l); int At = l[n]; int First = l[0]; list<int> Slice = l[1...2]; list<int> Picked = l[0, n];
  list<int> Range = !range(n); list<int> RangeFrom = !range(1, n); list<int> RangeStep = !range(1, n, 2); list<int> RangeOf = !range(s);
  list<int> Each = !foreach(x, l, !add(x, n)); list<int> Filter = !filter(x, l, !gt(x, n)); int Fold = !foldl(0, l, a, x, !add(a, x)); string Inter = !interleave(s, ", ");
}
