// Nothing may follow the name.
#ifdef A B
#endif
