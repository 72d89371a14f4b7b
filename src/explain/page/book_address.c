/* explain/page/book_address.c: a link must not run a script ("javascript:"): before the first slash, question mark or # a colon
 * makes a scheme, of which three are known. */
#include "explain/page/book_address.h"

#include <string.h>

#define MAX_ADDRESS 2000

static bool has_known_scheme(const char *text)
{
    static const char *const hosts[] = {"http://", "https://"};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        if (strncmp(text, hosts[i], strlen(hosts[i])) == 0)
            return !strchr("/?#\\", text[strlen(hosts[i])]); /* a host follows; strchr finds the end, too */
    return strncmp(text, "file://", strlen("file://")) == 0;
}

static bool is_book_address(const char *text)
{
    const size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    const bool relative = !memchr(text, ':', strcspn(text, "/?#"));
    return length > 0 && length <= MAX_ADDRESS && (relative || has_known_scheme(text));
}

rapt_code book_address_check(const char *address, rapt_error *err)
{
    if (is_book_address(address))
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "the book's address must begin with http:// or https:// and a host, or with file://, "
                     "or be relative, in 1 to %d visible ASCII characters", MAX_ADDRESS);
}
