/* Functions that are instructions of a GPU's, or few of them. */
#define ONE(name) \
	double name(double x) { return __builtin_##name(x); } \
	float name##f(float x) { return __builtin_##name##f(x); } \
	long double name##l(long double x) { return __builtin_##name(x); }
#define TWO(name) \
	double name(double x, double y) { return __builtin_##name(x, y); } \
	float name##f(float x, float y) { return __builtin_##name##f(x, y); } \
	long double name##l(long double x, long double y) { return __builtin_##name(x, y); }

ONE(ceil)
ONE(fabs)
ONE(floor)
ONE(nearbyint)
ONE(rint)
ONE(sqrt)
ONE(trunc)
TWO(copysign)
TWO(fmax)
TWO(fmin)

double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
long double fmal(long double x, long double y, long double z) { return __builtin_fma(x, y, z); }
