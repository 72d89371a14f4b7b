/* base/math.h: elementary functions in double precision that give the same bits on every machine (libm's differ between
 * versions). For everything outside the kernels that reaches a parameter: initialization, positions, schedules. Relative error
 * below 4e-16, except near zeros of sin, cos and log; not for speed. */
#ifndef BASE_MATH_H
#define BASE_MATH_H

double math_exp(double x);
double math_log(double x);           /* x > 0; 0 gives -inf, below NaN */
double math_pow(double x, double y); /* x > 0; the error grows with |y log x| */
double math_sin(double x);           /* |x| < 1e6 */
double math_cos(double x);

#endif
