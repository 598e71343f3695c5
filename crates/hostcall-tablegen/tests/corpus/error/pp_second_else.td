// Two `#else`.
#ifdef A
#else
#else
#endif
