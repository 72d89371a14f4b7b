/* base/c_locale.h: the C locale for the calling thread alone. For numbers as texts (base/number.c), which have a point in every
 * locale. */
#ifndef BASE_C_LOCALE_H
#define BASE_C_LOCALE_H

/* Returns what c_locale_leave takes. */
void *c_locale_enter(void);
void c_locale_leave(void *before);

#endif
