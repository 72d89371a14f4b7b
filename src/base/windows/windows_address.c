/* base/windows/windows_address.c: inet_pton and inet_ntop of the socket library, which need no start of it. */
#include "base/address.h"

#include <string.h>
#include <winsock2.h>
#include <ws2tcpip.h>

bool address_write(const char *text, char address[ADDRESS_TEXT])
{
    unsigned char bytes[16];
    const int family = strchr(text, ':') ? AF_INET6 : AF_INET;
    return inet_pton(family, text, bytes) == 1 && inet_ntop(family, bytes, address, ADDRESS_TEXT);
}
