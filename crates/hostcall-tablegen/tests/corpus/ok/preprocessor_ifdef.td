// `#define`, `#ifdef`, `#ifndef`, `#else`, `#endif`.
#define FLAG
#ifdef FLAG
def WithFlag;
#else
def WithoutFlag;
#endif
#ifndef OTHER
def NoOther;
#endif
#ifdef OTHER
this is not even looked at: "unterminated
#endif
