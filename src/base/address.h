/* base/address.h: addresses of the internet as text. Their names, and sockets, are the server's alone. */
#ifndef BASE_ADDRESS_H
#define BASE_ADDRESS_H

#include <stdbool.h>

enum { ADDRESS_TEXT = 46 };

/* Writes an address of IPv4 or IPv6 as it is written in the shortest way. False: `text` is none. */
bool address_write(const char *text, char address[ADDRESS_TEXT]);

#endif
