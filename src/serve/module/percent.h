/* serve/module/percent.h: percent-encoding (RFC 3986, section 2.1), of targets and of forms. */
#ifndef SERVE_MODULE_PERCENT_H
#define SERVE_MODULE_PERCENT_H

#include <stdbool.h>
#include <stddef.h>

/* Decodes text[size] to `to`, which has room for size + 1 bytes: *length bytes and a NUL. `plus`: a '+' is a space, as in queries
 * and forms. Returns NULL, or what is wrong: a '%' without two digits, or a NUL. */
const char *percent_decode(const char *text, size_t size, bool plus, char *to, size_t *length);

#endif
