/* serve/module/forwarded.c: the client behind a proxy. */
#include "serve/module/http_parts.h"

#include <arpa/inet.h>
#include <string.h>

static bool is_proxy(const char *address, char *const *proxies, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(proxies[i], address) == 0)
            return true;
    return false;
}

/* One element of the list as an address; some proxies add a port. */
static bool read_address(const char *text, size_t size, char client[FORWARDED_ADDRESS])
{
    char copy[FORWARDED_ADDRESS];
    unsigned char bytes[16];
    while (size && (*text == ' ' || *text == '\t'))
        text++, size--;
    while (size && (text[size - 1] == ' ' || text[size - 1] == '\t'))
        size--;
    const char *colon = memchr(text, ':', size), *end = size ? memchr(text, ']', size) : NULL;
    if (size && *text == '[' && end) {
        text++;
        size = (size_t)(end - text);
    } else if (colon && !memchr(colon + 1, ':', size - (size_t)(colon + 1 - text)))
        size = (size_t)(colon - text);
    if (size >= sizeof copy)
        return false;
    memcpy(copy, text, size);
    copy[size] = '\0';
    const int family = strchr(copy, ':') ? AF_INET6 : AF_INET;
    return inet_pton(family, copy, bytes) == 1 && inet_ntop(family, bytes, client, FORWARDED_ADDRESS);
}

bool forwarded_client(const char *address, const char *field, char *const *proxies, size_t count, char client[FORWARDED_ADDRESS])
{
    client[0] = '\0';
    if (!field || !is_proxy(address, proxies, count))
        return false;
    size_t end = strlen(field);
    for (;;) {
        size_t begin = end;
        while (begin > 0 && field[begin - 1] != ',')
            begin--;
        if (!read_address(field + begin, end - begin, client)) {
            client[0] = '\0';
            return false;
        }
        if (begin == 0 || !is_proxy(client, proxies, count))
            return true;
        end = begin - 1;
    }
}
