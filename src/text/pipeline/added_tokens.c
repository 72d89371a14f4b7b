/* text/pipeline/added_tokens.c: finds added tokens in a text. */
#include "text/pipeline/pipeline.h"

#include "base/quote.h"
#include "text/pipeline/char_classes.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

void added_tokens_free(added_tokens *a)
{
    for (size_t i = 0; i < a->count; i++) {
        free(a->list[i].content);
        free(a->list[i].shown);
    }
    free(a->list);
    free(a->by_id);
    token_list_free(&a->names);
    for (int i = 0; i < 2; i++) {
        token_list_free(&a->sets[i].contents);
        free(a->sets[i].lengths);
    }
    *a = (added_tokens){0};
}

static bool add_length(added_set *s, size_t length)
{
    size_t i = 0;
    while (i < s->length_count && s->lengths[i] > length)
        i++;
    if (i < s->length_count && s->lengths[i] == length)
        return true;
    if (!ARRAY_RESERVE(&s->lengths, &s->length_capacity, s->length_count + 1))
        return false;
    memmove(s->lengths + i + 1, s->lengths + i, (s->length_count - i) * sizeof *s->lengths);
    s->lengths[i] = length;
    s->length_count++;
    return true;
}

static char *copy_text(const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    if (copy)
        memcpy(copy, text, length);
    if (copy)
        copy[length] = '\0';
    return copy;
}

static bool name_token(added_tokens *a, const added_token *t, const char *pattern, size_t length)
{
    size_t id = (size_t)t->id;
    if (!ARRAY_RESERVE(&a->by_id, &a->id_capacity, id + 1) || !token_list_put(&a->names, a->count, t->content, t->length, true))
        return false;
    while (a->id_count <= id)
        a->by_id[a->id_count++] = 0;
    a->by_id[id] = (int32_t)a->count + 1;
    added_token *to = &a->list[a->count++];
    *to = *t;
    to->content = copy_text(t->content, t->length);
    to->shown = copy_text(pattern, length);
    to->shown_length = length;
    return to->content && to->shown;
}

rapt_code added_tokens_add(added_tokens *a, const added_token *token, const char *pattern, size_t length, rapt_error *err)
{
    added_set *s = &a->sets[token->normalized];
    if (token_list_find(&s->contents, pattern, length) >= 0)
        return rapt_fail(err, RAPT_ERR_FORMAT, "added token \"%s\": another is normalized to the same text",
                         quote(token->content).text);
    if (!ARRAY_RESERVE(&a->list, &a->capacity, a->count + 1) || !add_length(s, length) ||
        !token_list_put(&s->contents, a->count, pattern, length, true) || !name_token(a, token, pattern, length))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a token");
    s->first[(unsigned char)pattern[0]] = true;
    return RAPT_OK;
}

const added_token *added_tokens_find(const added_tokens *a, const char *content)
{
    int32_t i = token_list_find(&a->names, content, strlen(content));
    return i >= 0 ? &a->list[i] : NULL;
}

const added_token *added_tokens_of(const added_tokens *a, int32_t id)
{
    return id >= 0 && (size_t)id < a->id_count && a->by_id[id] ? &a->list[a->by_id[id] - 1] : NULL;
}

/* ---- looking for them --------------------------------------------------------------------------------------- */

/* The longest token at `text`, and the length of its searched form; NULL: none. */
static const added_token *token_at(const added_tokens *a, const added_set *s, const char *text, size_t size, size_t *length)
{
    for (size_t i = 0; s->first[(unsigned char)text[0]] && i < s->length_count; i++) {
        int32_t found = s->lengths[i] <= size ? token_list_find(&s->contents, text, s->lengths[i]) : -1;
        if (found >= 0) {
            *length = s->lengths[i];
            return &a->list[found];
        }
    }
    return NULL;
}

/* The character that ends at `at`, in valid text. */
static uint32_t character_before(const char *text, size_t at, size_t *begin)
{
    uint32_t code = 0;
    *begin = at - 1;
    while (*begin > 0 && ((unsigned char)text[*begin] & 0xC0) == 0x80)
        --*begin;
    utf8_decode(text + *begin, at - *begin, &code);
    return code;
}

static bool is_single_word(const uint8_t *classes, const char *text, size_t size, size_t begin, size_t end)
{
    uint32_t after = 0;
    size_t at;
    bool before = begin > 0 && classes[character_before(text, begin, &at)] & CHAR_WORD;
    return !before && !(utf8_decode(text + end, size - end, &after) > 0 && classes[after] & CHAR_WORD);
}

static size_t white_begin(const char *text, size_t from, size_t limit)
{
    for (size_t at = from, before; at > limit; at = before)
        if (!char_is_white(character_before(text, at, &before)))
            return at;
    return limit < from ? limit : from;
}

static size_t white_end(const char *text, size_t size, size_t from)
{
    uint32_t code;
    for (size_t used; (used = utf8_decode(text + from, size - from, &code)) > 0 && char_is_white(code);)
        from += used;
    return from;
}

bool added_tokens_cut(const added_tokens *a, bool normalized, bool specials, const uint8_t *classes, const normal_text *in,
                      piece_list *out)
{
    const added_set *s = &a->sets[normalized];
    const char *text = in->text.data;
    const rapt_span *from = sources_of(&in->from);
    const size_t size = in->text.size, first_bytes = in->first_bytes;
    size_t done = 0, length = 1;
    bool ok = true;
    for (size_t at = 0; ok && s->length_count > 0 && at < size; at += length) {
        const added_token *t = token_at(a, s, text + at, size - at, &length);
        if (!t)
            length = 1;
        if (!t || (t->special && !specials) || (t->single_word && !is_single_word(classes, text, size, at, at + length)))
            continue; /* the match is text, and no other token begins in it */
        size_t begin = t->lstrip ? white_begin(text, at, done) : at, end = at + length;
        end = t->rstrip ? white_end(text, size, end) : end;
        ok = (done >= begin || piece_list_add_part(out, text, from, done, begin, first_bytes)) &&
             piece_list_add(out, text + begin, sources_at(from, begin), end - begin, 0, t->id);
        done = end;
    }
    return ok && (done == size || piece_list_add_part(out, text, from, done, size, first_bytes));
}
