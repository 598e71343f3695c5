// `#else` without `#ifdef`.
#else
