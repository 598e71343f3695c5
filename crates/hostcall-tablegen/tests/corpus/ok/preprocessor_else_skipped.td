// What is skipped may hold anything but unbalanced directives.
#define A
#ifdef A
def D;
#else
}}} ]] "open
#ifdef B
@@@
#else
!!!
#endif
#endif
def E;
