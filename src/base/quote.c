/* base/quote.c: foreign text made fit for a one-line message.
 * For the readers of files and options, whose errors name keys and values that somebody else wrote.
 * Not an escaping: the original can't be read back from it. */
#include "base/quote.h"

#include <string.h>

static int is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7F;
}

/* Where to cut so that no UTF-8 character is split: 10xxxxxx continues one. */
static size_t cut_before(const char *text, size_t at)
{
    while (at > 0 && ((unsigned char)text[at] & 0xC0) == 0x80)
        at--;
    return at;
}

quoted quote(const char *text)
{
    quoted q = {""};
    size_t length = strlen(text), room = sizeof q.text - 1;
    size_t kept = length <= room ? length : cut_before(text, room - 3);
    for (size_t i = 0; i < kept; i++)
        q.text[i] = is_control(text[i]) ? '?' : text[i];
    if (kept < length)
        memcpy(q.text + kept, "...", 4);
    return q;
}
