/* text/spm/spm_normalize.c: SentencePiece's normalizer. For spm_encode.c and spm_decode.c. It follows normalizer.cc,
 * Normalizer::Normalize, also in unusual cases: U+2581 at the end of a text, for instance, is removed like a space. */
#include "text/spm/spm.h"

#include "text/utf8.h"

/* The replacement of the next bytes of a text. */
typedef struct replacement {
    const char *text;
    size_t size, used; /* bytes of `text`, and bytes of the input that it replaces */
} replacement;

static replacement next_replacement(const spm_rules *r, const piece_trie *kept, const char *text, size_t size)
{
    const char *to = NULL;
    uint32_t code;
    size_t used = piece_trie_longest(kept, text, size);
    if (used > 0)
        return (replacement){text, used, used};
    used = charsmap_match(&r->map, text, size, &to);
    if (used > 0)
        return (replacement){to, strlen(to), used};
    used = utf8_decode(text, size, &code);
    return used > 0 ? (replacement){text, used, used} : (replacement){"\xEF\xBF\xBD", 3, 1};
}

bool spm_append_text(buffer *text, const char *piece, size_t size)
{
    const size_t space = strlen(SPM_SPACE);
    bool ok = buffer_reserve(text, size);
    for (size_t at = 0; ok && at < size;) {
        const bool is_space = size - at >= space && memcmp(piece + at, SPM_SPACE, space) == 0;
        ok = buffer_append(text, is_space ? " " : piece + at, 1);
        at += is_space ? space : 1;
    }
    return ok;
}

/* What is new in `out` comes from byte `at` of the text. */
static bool note_starts(buffer *starts, const buffer *out, size_t at)
{
    bool ok = true;
    while (starts && ok && starts->size / sizeof at < out->size)
        ok = buffer_append(starts, &at, sizeof at);
    return ok;
}

static bool append_escaped(const spm_rules *r, const char *text, size_t size, buffer *out)
{
    bool ok = true;
    for (size_t at = 0, length; at < size && ok; at += length) {
        const char *space = r->escapes ? memchr(text + at, ' ', size - at) : NULL;
        length = space ? (size_t)(space - (text + at)) : size - at;
        ok = buffer_append(out, text + at, length);
        if (space && ok)
            ok = buffer_append(out, SPM_SPACE, strlen(SPM_SPACE));
        length += space != NULL;
    }
    return ok;
}

/* Bytes of the spaces at the beginning of the text, including other text that becomes exactly one space. */
static size_t leading_spaces(const spm_rules *r, const piece_trie *kept, const char *text, size_t size)
{
    size_t at = 0;
    while (at < size) {
        replacement next = next_replacement(r, kept, text + at, size - at);
        if (next.size != 1 || *next.text != ' ')
            break;
        at += next.used;
    }
    return at;
}

static void cut_trailing_spaces(const spm_rules *r, size_t begin, buffer *out)
{
    const char *space = r->escapes ? SPM_SPACE : " ";
    const size_t length = strlen(space);
    while (out->size - begin >= length && memcmp(out->data + out->size - length, space, length) == 0)
        out->size -= length;
    out->data[out->size] = '\0';
}

/* From byte `at` of the text on. */
static bool normalize_inner(const spm_rules *r, const piece_trie *kept, const char *text, size_t size, size_t at, buffer *out,
                            buffer *starts)
{
    bool ok = true, after_space = r->squeezes;
    for (size_t begin; at < size && ok;) {
        replacement next = next_replacement(r, kept, text + at, size - at);
        begin = at;
        at += next.used;
        while (after_space && next.size > 0 && *next.text == ' ') {
            next.text++;
            next.size--;
        }
        if (next.size > 0)
            after_space = r->squeezes && next.text[next.size - 1] == ' ';
        ok = append_escaped(r, next.text, next.size, out) && note_starts(starts, out, begin);
    }
    return ok;
}

bool spm_normalize(const spm_rules *r, const piece_trie *kept, const char *text, size_t size, buffer *out, buffer *starts)
{
    const size_t begin = out->size, leading = r->squeezes ? leading_spaces(r, kept, text, size) : 0;
    if (!buffer_append(out, "", 0))
        return false;
    if (leading == size)
        return true;
    bool ok = !r->dummy_prefix || r->suffix || (append_escaped(r, " ", 1, out) && note_starts(starts, out, leading));
    ok = ok && normalize_inner(r, kept, text, size, leading, out, starts);
    if (ok && r->squeezes)
        cut_trailing_spaces(r, begin, out);
    size_t end = size; /* where the rest of the text begins, of which nothing is left */
    if (ok && starts && starts->size / sizeof end > out->size) {
        memcpy(&end, starts->data + out->size * sizeof end, sizeof end);
        starts->size = out->size * sizeof end;
    }
    ok = ok && (!r->dummy_prefix || !r->suffix || (append_escaped(r, " ", 1, out) && note_starts(starts, out, end)));
    return ok && (!starts || buffer_append(starts, &end, sizeof end));
}
