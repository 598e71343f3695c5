// `#ifdef` needs a name.
#ifdef
#endif
