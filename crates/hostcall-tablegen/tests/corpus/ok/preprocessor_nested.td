// Conditionals in conditionals, and comments after directives.
#define A
#ifdef A // here
  #ifdef B /* there */
def AB;
  #else
def AnotB;
  #endif
#else
  #ifdef B
def B;
  #endif
#endif
