/* serve/module/body_cost.c: one pass that counts values by their first characters. jansson allocates one or a few blocks for
 * each; their sizes are below, as malloc of a 64-bit system rounds them up. test_body_cost compares. */
#include "serve/module/body_kinds.h"

enum {
    BASE = 8 << 10,
    OBJECT = 288, /* with a table of 8 entries, and an empty copy with as many */
    ARRAY = 160,  /* with room for 8 values */
    STRING = 80,  /* besides its bytes */
    NUMBER = 32,  /* true, false and null take none */
    MEMBER = 192, /* a member of an object, besides its string: an entry and its share of a table that doubles, twice because
                     there is a copy */
    PLACE = 32,   /* a place in a list, which grows to twice its size while the smaller one still exists */
    FORM_PART = 400,
    TOKENS = 48   /* for each byte of the longest text: in a buffer that doubles while it is read, and then while it is encoded */
};

/* The end of the string that begins at text[at], or of the text. */
static size_t string_end(const char *text, size_t size, size_t at)
{
    for (at++; at < size && text[at] != '"'; at++)
        at += text[at] == '\\';
    return at < size ? at : size;
}

static int begins_number(char c)
{
    return (c >= '0' && c <= '9') || c == '-';
}

size_t body_cost_json(const char *text, size_t size)
{
    size_t cost = BASE, longest = 0;
    for (size_t at = 0; at < size; at++) {
        const char c = text[at];
        if (c == '"') {
            const size_t end = string_end(text, size, at), length = end - at;
            cost += STRING + 2 * length; /* a key is there twice */
            longest = length > longest ? length : longest;
            at = end;
        } else if (c == '{')
            cost += OBJECT;
        else if (c == '[')
            cost += ARRAY;
        else if (c == ':')
            cost += MEMBER;
        else if (c == ',')
            cost += PLACE;
        else if (begins_number(c) && (at == 0 || !begins_number(text[at - 1])))
            cost += NUMBER;
    }
    return cost + TOKENS * longest;
}

size_t body_cost_form(const char *text, size_t size)
{
    size_t parts = 1;
    for (size_t at = 0; at < size; at++)
        parts += text[at] == '&';
    return BASE + parts * FORM_PART + TOKENS * size;
}
