// `#endif` without `#ifdef`.
def A;
#endif
