/* serve/module/forwarded.h: whom a proxy asks for. For http.c. */
#ifndef SERVE_MODULE_FORWARDED_H
#define SERVE_MODULE_FORWARDED_H

#include <stdbool.h>
#include <stddef.h>

enum { FORWARDED_ADDRESS = 64 };

/* If `address` is one of the proxies, sets `client` to the address of its client: the last one in X-Forwarded-For (`field`, or
 * NULL) that is no proxy itself. Addresses before it are the client's own claim. False, with *client empty: `address` is no
 * proxy, or the field has no address there. */
bool forwarded_client(const char *address, const char *field, char *const *proxies, size_t count, char client[FORWARDED_ADDRESS]);

#endif
