// `#ifdef` without `#endif`.
#ifdef A
def D;
