/* serve/module/percent.c: percent-encoding. */
#include "serve/module/percent.h"

static int percent_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

const char *percent_decode(const char *text, size_t size, bool plus, char *to, size_t *length)
{
    *length = 0;
    for (size_t i = 0; i < size; i++) {
        char c = plus && text[i] == '+' ? ' ' : text[i];
        if (c == '%') {
            const int high = i + 2 < size ? percent_digit(text[i + 1]) : -1, low = i + 2 < size ? percent_digit(text[i + 2]) : -1;
            if (high < 0 || low < 0)
                return "a % is not followed by two hexadecimal digits";
            c = (char)(high << 4 | low);
            i += 2;
        }
        if (!c)
            return "it has a NUL";
        to[(*length)++] = c;
    }
    to[*length] = '\0';
    return NULL;
}
