// `!foreach` over lists, nested, and with an index into another list.
defvar names = ["a", "b"];
def D {
  list<int> L = !foreach(x, [1, 2, 3], !mul(x, x));
  list<list<int>> M = !foreach(x, [1, 2], !foreach(y, [10, 20], !add(x, y)));
  list<string> S = !foreach(i, !range(2), names[i]);
}
