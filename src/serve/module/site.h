/* serve/module/site.h: which web pages a request may come from. A browser tells two things that a page cannot choose: the name by
 * which it called the server (Host), and the page's own site (Origin). For app.c and router.c. */
#ifndef SERVE_MODULE_SITE_H
#define SERVE_MODULE_SITE_H

#include <stdbool.h>
#include <stddef.h>

/* Who can reach a server: what its socket listens on. */
typedef enum site_reach { SITE_SOCKET, SITE_LOOPBACK, SITE_NETWORK } site_reach;

/* Whether a request that names `host` ("localhost:8080") can be meant for this server. A page whose own name was made to lead
 * here (DNS rebinding) sends that name: of names that anybody can have, only `allowed` count, one of which may be "*". On
 * SITE_LOOPBACK that leaves localhost and addresses of this machine; on SITE_NETWORK all addresses, names without a dot, and
 * those that no registry gives out (RFC 6761, 6762, 8375; ICANN's .internal). */
bool site_has_host(site_reach reach, const char *host, char *const *allowed, size_t count);

enum { SITE_ORIGIN = 300 };

/* The origin of the page at an address, "https://a.example" of "https://a.example/b"; "null" where there is none. */
const char *site_origin_of(const char *address, char origin[SITE_ORIGIN]);
/* Whether a page of `origin` ("https://a.example", "null") is of the server that Host names, whatever the scheme: a proxy may
 * have TLS in front. `host` may be NULL. */
bool site_is_own(const char *origin, const char *host);

#endif
