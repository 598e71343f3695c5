// Strings are bytes: a character may be cut in two, and put together again.
def op;
def bytes {
  string text = "é€z";
  string first = !substr(text, 0, 1);
  string middle = !substr(text, 1, 3);
  string rest = !substr(text, 1);
  string again = first # rest;
  bit same = !eq(again, text);
  int size = !size(first);
  int found = !find(text, !substr(text, 1, 1));
  int inside = !find(text, "z", 1);
  int nothing = !find(text, "", 1);
  string replaced = !subst(first, "x", text);
  bit less = !lt(first, "é");
  bit one = !match(first, "^.$");
  string upper = !toupper(text);
  string quoted = !repr(first);
  string joined = !interleave([first, rest], "-");
  list<string> parts = [first, rest];
  dag tree = !dag(op, [1, 2], [first, "plain"]);
  code text2 = [{é}];
  code half = !substr(text2, 1);
}
