// `#ifndef` without `#endif`, taken.
#ifndef A
def D;
