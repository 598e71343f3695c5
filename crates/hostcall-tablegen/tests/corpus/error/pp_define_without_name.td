// `#define` needs a name.
#define
