/* A `long double` is a `double` here. Code generation for the simulator's processor calls functions of its own widest
 * numbers by these names, which std's `compiler_builtins` has: so C's are called by those of `double`s. */
#pragma redefine_extname ceill ceil
#pragma redefine_extname floorl floor
#pragma redefine_extname fmal fma
#pragma redefine_extname fmaxl fmax
#pragma redefine_extname fminl fmin
#pragma redefine_extname fmodl fmod
#pragma redefine_extname rintl rint
#pragma redefine_extname roundl round
#pragma redefine_extname roundevenl roundeven
#pragma redefine_extname sqrtl sqrt
#pragma redefine_extname truncl trunc
