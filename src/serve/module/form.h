/* serve/module/form.h: bodies of type application/x-www-form-urlencoded (WHATWG's URL standard, section 5.1) as JSON, so that an
 * endpoint need not know in which of the two a request came. */
#ifndef SERVE_MODULE_FORM_H
#define SERVE_MODULE_FORM_H

#include <jansson.h>

/* An object of texts: "q=a+b&target=de" is {"q": "a b", "target": "de"}; a name that comes several times has a list of its
 * values. NULL with *reason set: what is wrong with the form, or NULL: out of memory. */
json_t *form_read(const char *text, size_t size, const char **reason);

#endif
