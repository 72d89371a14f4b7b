/* serve/module/site.c: compares hosts and origins. */
#include "serve/module/site.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { NAME_TEXT = 256 };

/* The name or address in "NAME:PORT" or "[ADDRESS]:PORT", without brackets and without a final dot. False: too long, or another
 * form. */
static bool host_name(const char *host, char name[NAME_TEXT])
{
    const bool bracket = *host == '[';
    const char *begin = host + bracket;
    size_t size = strcspn(begin, bracket ? "]" : ":");
    const char *rest = begin + size;
    if (size == 0 || (bracket && (*rest++ != ']' || !memchr(begin, ':', size))))
        return false;
    if (rest[0] == ':')
        rest += 1 + strspn(rest + 1, "0123456789");
    if (size > 1 && begin[size - 1] == '.')
        size--;
    return *rest == '\0' && snprintf(name, NAME_TEXT, "%.*s", (int)size, begin) < NAME_TEXT;
}

static bool is_address(const char *name, bool *loopback)
{
    struct in_addr four;
    struct in6_addr six;
    if (inet_pton(AF_INET, name, &four) == 1) {
        *loopback = ntohl(four.s_addr) >> 24 == IN_LOOPBACKNET;
        return true;
    }
    if (inet_pton(AF_INET6, name, &six) != 1)
        return false;
    *loopback = IN6_IS_ADDR_LOOPBACK(&six) || (IN6_IS_ADDR_V4MAPPED(&six) && six.s6_addr[12] == IN_LOOPBACKNET);
    return true;
}

static bool is_in_domain(const char *name, const char *domain)
{
    const size_t size = strlen(name), end = strlen(domain);
    return size > end && strcasecmp(name + size - end, domain) == 0;
}

static bool is_of_no_registry(const char *name)
{
    return !strchr(name, '.') || is_in_domain(name, ".local") || is_in_domain(name, ".internal") ||
           is_in_domain(name, ".home.arpa");
}

bool site_has_host(site_reach reach, const char *host, char *const *allowed, size_t count)
{
    char name[NAME_TEXT];
    bool loopback;
    if (reach == SITE_SOCKET)
        return true;
    if (!host_name(host, name))
        return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(allowed[i], "*") == 0 || strcasecmp(allowed[i], name) == 0)
            return true;
    if (is_address(name, &loopback))
        return reach == SITE_NETWORK || loopback;
    return strcasecmp(name, "localhost") == 0 || is_in_domain(name, ".localhost") ||
           (reach == SITE_NETWORK && is_of_no_registry(name));
}

const char *site_origin_of(const char *address, char origin[SITE_ORIGIN])
{
    const char *slashes = address ? strstr(address, "://") : NULL;
    const size_t size = slashes ? (size_t)(slashes - address) + 3 + strcspn(slashes + 3, "/?#") : SITE_ORIGIN;
    snprintf(origin, SITE_ORIGIN, "%.*s", size < SITE_ORIGIN ? (int)size : 4, size < SITE_ORIGIN ? address : "null");
    return origin;
}

bool site_is_own(const char *origin, const char *host)
{
    const char *slashes = strstr(origin, "://");
    if (!slashes || !host)
        return false;
    const char *own = slashes + 3, *bracket = strchr(host, ']'), *port = strchr(bracket ? bracket : host, ':');
    size_t size = strlen(host);
    if (port && strcmp(port, strncasecmp(origin, "https://", 8) == 0 ? ":443" : ":80") == 0)
        size = (size_t)(port - host); /* browsers leave it out of both */
    return strlen(own) == size && strncasecmp(own, host, size) == 0;
}
