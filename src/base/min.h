/* base/min.h: the lesser of two numbers of one type. The arguments are evaluated twice. */
#ifndef BASE_MIN_H
#define BASE_MIN_H

#define MIN(a, b) ((a) < (b) ? (a) : (b))

#endif
