/* serve/module/forwarded.h: whom a proxy asks for. For http.c. */
#ifndef SERVE_MODULE_FORWARDED_H
#define SERVE_MODULE_FORWARDED_H

#include <stdbool.h>
#include <stddef.h>

enum { FORWARDED_ADDRESS = 64 };

/* The address of the client that `address` asks for, if it is one of the proxies: the last one of X-Forwarded-For (`field`, or
 * NULL) that is no proxy itself, since what stands before it is the client's own word. False, with *client empty: it asks for
 * itself, or says nothing that is an address. */
bool forwarded_client(const char *address, const char *field, char *const *proxies, size_t count, char client[FORWARDED_ADDRESS]);

#endif
