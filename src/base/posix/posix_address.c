/* base/posix/posix_address.c: inet_pton and inet_ntop. */
#define _GNU_SOURCE
#include "base/address.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

bool address_write(const char *text, char address[ADDRESS_TEXT])
{
    unsigned char bytes[16];
    const int family = strchr(text, ':') ? AF_INET6 : AF_INET;
    return inet_pton(family, text, bytes) == 1 && inet_ntop(family, bytes, address, ADDRESS_TEXT);
}
