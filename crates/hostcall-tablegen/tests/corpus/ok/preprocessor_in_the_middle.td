// Directives between the parts of a body.
#define WIDE
class A {
#ifdef WIDE
  int X = 64;
#else
  int X = 32;
#endif
  list<int> L = [1,
#ifndef NARROW
    2,
#endif
    3];
}
def D : A;
