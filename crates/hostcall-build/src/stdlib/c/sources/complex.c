/* Products and quotients of complex numbers, which compilers call by these names (C11, annex G.5.1). */
#include <math.h>

#define OPERATIONS(kind, product, quotient, copysign, fabs, fmax, logb, scalbn) \
static kind boxed(product)(kind x) { return copysign(isinf(x) ? 1 : 0, x); } \
kind _Complex product(kind a, kind b, kind c, kind d) \
{ \
	kind ac = a * c, bd = b * d, ad = a * d, bc = b * c, x = ac - bd, y = ad + bc; \
	if (isnan(x) && isnan(y)) { \
		int again = 0; \
		if (isinf(a) || isinf(b)) { \
			a = boxed(product)(a), b = boxed(product)(b); \
			if (isnan(c)) c = copysign(0, c); \
			if (isnan(d)) d = copysign(0, d); \
			again = 1; \
		} \
		if (isinf(c) || isinf(d)) { \
			c = boxed(product)(c), d = boxed(product)(d); \
			if (isnan(a)) a = copysign(0, a); \
			if (isnan(b)) b = copysign(0, b); \
			again = 1; \
		} \
		if (!again && (isinf(ac) || isinf(bd) || isinf(ad) || isinf(bc))) { \
			if (isnan(a)) a = copysign(0, a); \
			if (isnan(b)) b = copysign(0, b); \
			if (isnan(c)) c = copysign(0, c); \
			if (isnan(d)) d = copysign(0, d); \
			again = 1; \
		} \
		if (again) x = INFINITY * (a * c - b * d), y = INFINITY * (a * d + b * c); \
	} \
	return __builtin_complex(x, y); \
} \
kind _Complex quotient(kind a, kind b, kind c, kind d) \
{ \
	int by = 0; \
	kind log = logb(fmax(fabs(c), fabs(d))); \
	if (isfinite(log)) by = (int)log, c = scalbn(c, -by), d = scalbn(d, -by); \
	kind norm = c * c + d * d, x = scalbn((a * c + b * d) / norm, -by), y = scalbn((b * c - a * d) / norm, -by); \
	if (isnan(x) && isnan(y)) { \
		if (norm == 0 && (!isnan(a) || !isnan(b))) { \
			x = copysign(INFINITY, c) * a, y = copysign(INFINITY, c) * b; \
		} else if ((isinf(a) || isinf(b)) && isfinite(c) && isfinite(d)) { \
			a = boxed(product)(a), b = boxed(product)(b); \
			x = INFINITY * (a * c + b * d), y = INFINITY * (b * c - a * d); \
		} else if (isinf(log) && log > 0 && isfinite(a) && isfinite(b)) { \
			c = boxed(product)(c), d = boxed(product)(d); \
			x = 0 * (a * c + b * d), y = 0 * (b * c - a * d); \
		} \
	} \
	return __builtin_complex(x, y); \
}
#define boxed(name) name##_boxed

OPERATIONS(float, __mulsc3, __divsc3, copysignf, fabsf, fmaxf, logbf, scalbnf)
OPERATIONS(double, __muldc3, __divdc3, copysign, fabs, fmax, logb, scalbn)
