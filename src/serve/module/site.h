/* serve/module/site.h: decides from which web pages a request may come. A browser sends two facts that a page cannot choose: the
 * name by which it called the server (Host), and the page's own site (Origin). For app.c and router.c. */
#ifndef SERVE_MODULE_SITE_H
#define SERVE_MODULE_SITE_H

#include <stdbool.h>
#include <stddef.h>

/* The clients that can reach a server, by the socket on which it listens. */
typedef enum site_reach { SITE_SOCKET, SITE_LOOPBACK, SITE_NETWORK } site_reach;

/* Whether a request that names `host` ("localhost:8080") can be meant for this server. A page whose own name was made to lead
 * here (DNS rebinding) sends that name: so a name that anybody can register is accepted only if it is in `allowed`, which may
 * contain "*". Always accepted are, on SITE_LOOPBACK, localhost and addresses of this machine; on SITE_NETWORK, all addresses,
 * names without a dot, and names that no registry gives out (RFC 6761, 6762, 8375; ICANN's .internal). */
bool site_has_host(site_reach reach, const char *host, char *const *allowed, size_t count);

enum { SITE_ORIGIN = 300 };

/* The origin of the page at an address: "https://a.example" for "https://a.example/b"; "null" if there is none. */
const char *site_origin_of(const char *address, char origin[SITE_ORIGIN]);
/* Whether `origin` ("https://a.example", "null") is the server that Host names, with any scheme, because a proxy in front may
 * have TLS. `host` may be NULL. */
bool site_is_own(const char *origin, const char *host);

#endif
