/* text/bpe/specials.c: search for a few fixed texts at once. For byte-level BPE. Special tokens are few and their first bytes
 * rare, so it is enough to compare at each place with such a byte. */
#include "text/bpe/byte_bpe.h"

#include "base/buffer.h"

#include <stdlib.h>
#include <string.h>

#define SEARCHED ((size_t)1 << 20) /* bytes at a time */

void special_list_free(special_list *l)
{
    for (size_t i = 0; i < l->count; i++)
        free((char *)l->list[i].text);
    free(l->list);
    *l = (special_list){0};
}

bool special_list_add(special_list *l, special added)
{
    char *copy = ARRAY_RESERVE(&l->list, &l->capacity, l->count + 1) ? malloc(added.length + 1) : NULL;
    if (!copy)
        return false;
    memcpy(copy, added.text, added.length);
    copy[added.length] = '\0';
    added.text = copy;
    size_t at = l->count++;
    for (; at > 0 && l->list[at - 1].length < added.length; at--)
        l->list[at] = l->list[at - 1];
    l->list[at] = added;
    l->firsts += !l->first[(unsigned char)copy[0]];
    l->first[(unsigned char)copy[0]] = true;
    l->always = l->always || added.always;
    return true;
}

static const special *starts_at(const special_list *l, const char *text, size_t size, bool all)
{
    for (size_t i = 0; i < l->count; i++) {
        const special *s = &l->list[i];
        if ((all || s->always) && s->length <= size && memcmp(s->text, text, s->length) == 0)
            return s;
    }
    return NULL;
}

/* The next place where a special token can begin; `size`: none. Nearly always they all begin with the same byte. */
static size_t next_first(const special_list *l, const char *text, size_t size, size_t from)
{
    if (l->firsts == 1) {
        const char *found = memchr(text + from, l->list[0].text[0], size - from);
        return found ? (size_t)(found - text) : size;
    }
    while (from < size && !l->first[(unsigned char)text[from]])
        from++;
    return from;
}

const special *special_list_next(const special_list *l, const char *text, size_t size, size_t from, bool all, size_t *at)
{
    if (l->count == 0 || (!all && !l->always))
        return NULL;
    for (size_t i = from; (i = next_first(l, text, size, i)) < size; i++) {
        const special *found = starts_at(l, text + i, size - i, all);
        *at = i;
        if (found)
            return found;
    }
    return NULL;
}

const special *special_list_search(const special_list *l, const char *text, size_t size, size_t from, bool all, size_t *at,
                                   void (*passed)(void *context, size_t begin, size_t end), void *context)
{
    const size_t longest = l->count ? l->list[0].length : 0;
    for (size_t begin = from, end; begin < size && l->count; begin = end) {
        end = size - begin < SEARCHED ? size : begin + SEARCHED;
        const size_t reach = size - end < longest ? size : end + longest;
        const special *found = special_list_next(l, text, reach, begin, all, at);
        if (found && *at < end)
            return found;
        if (passed)
            passed(context, begin, end);
    }
    return NULL;
}

const special *special_list_find(const special_list *l, const char *text, size_t length)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->list[i].length == length && memcmp(l->list[i].text, text, length) == 0)
            return &l->list[i];
    return NULL;
}

const special *special_list_of(const special_list *l, int32_t id)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->list[i].id == id)
            return &l->list[i];
    return NULL;
}
