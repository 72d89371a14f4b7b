/* serve/module/keys.h: the API keys that a server takes. For app.c. They are compared in a time that does not depend on how much
 * of a key is right, and no function prints one. */
#ifndef SERVE_MODULE_KEYS_H
#define SERVE_MODULE_KEYS_H

#include "rapt/base.h"

typedef struct keys keys;

/* Reads a file: a key in each line, of at most KEYS_MAX_BYTES, and behind " #" the name of its owner, of at most KEYS_NAME bytes
 * with its end. Empty lines and lines that begin with "#" don't count. NULL with `err` set, also if there is no key: such a file
 * would admit nobody. */
keys *keys_read(const char *path, rapt_error *err);
void keys_free(keys *k); /* NULL is fine */
enum { KEYS_MAX_BYTES = 256, KEYS_NAME = 64 };

/* The name of the owner of `key`, "" if the owner has no name; NULL: it is not one of the keys, or it is NULL. */
const char *keys_owner(const keys *k, const char *key);

#endif
