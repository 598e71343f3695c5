// How operators over unknown strings are printed.
class A<string s, string t, int n> {
  string Concat = !strconcat(s, t, "x"); string Paste = s # "-" # n; string Sub = !substr(s, 1, n); string Rest = !substr(s, n);
  int Find = !find(s, t); int FindFrom = !find(s, "x", n); string Subst = !subst("a", s, t); string Low = !tolower(s); string Up = !toupper(s);
  int Size = !size(s); bit Empty = !empty(s); bit Eq = !eq(s, t); string Cast = !cast<string>(n); string Repr = !repr(n); bit Match = !match(s, "x+");
}
