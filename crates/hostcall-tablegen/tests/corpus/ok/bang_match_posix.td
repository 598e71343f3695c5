// Patterns are POSIX extended regular expressions.
class A; def x1 : A; def y2 : A;
def D {
  bit Escape = !match("d", "^\\d$"); bit Dot = !match("a\nb", "a.b"); bit Start = !match("a\nb", "^b"); bit Brace = !match("a{b", "a{b");
  bit Count = !match("aaab", "^a{3}b"); bit Bracket = !match("a]b", "a[]]b"); bit Backslash = !match("\\", "[\\]"); bit Class = !match("xyz", "^[[:alpha:]]{3}$");
  bit Word = !match("wd x", "\\bx"); bit And = !match("a&&b", "[a&&b]&"); bit Group = !match("ab", "a()b"); list<A> All = !instances<A>();
}
