/* serve/module/keys.h: the API keys that a server takes. For app.c. They are compared in a time that does not depend on how much
 * of a key is right, and no function prints one. */
#ifndef SERVE_MODULE_KEYS_H
#define SERVE_MODULE_KEYS_H

#include "rapt/base.h"

typedef struct keys keys;

/* Reads a file: a key in each line of at most KEYS_MAX_BYTES; empty lines and those that begin with "#" don't count. NULL with
 * `err` set, also where there is none: that would let nobody in. */
keys *keys_read(const char *path, rapt_error *err);
void keys_free(keys *k); /* NULL is fine */
enum { KEYS_MAX_BYTES = 256 };

/* Whether `key` is one of them; NULL is none. */
bool keys_have(const keys *k, const char *key);

#endif
