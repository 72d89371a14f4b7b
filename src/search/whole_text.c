/* search/whole_text.c: keeps translations to whole characters. Each call scans all tokens from the first, because only a few
 * sentences need it. */
#include "search/whole_text.h"

#include "search/valid_text.h"
#include "text/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether an id is special. In a vocabulary of another program, the first ids are ordinary tokens. */
static bool whole_text_is_special(const rapt_tokenizer *k, int32_t id)
{
    return id < RAPT_SPECIALS && rapt_tokenizer_has_specials(k);
}

/* Takes the bytes of a token; false if they cannot follow. Special tokens have none. */
static bool whole_text_take(const rapt_tokenizer *k, int32_t id, utf8_scan *scan)
{
    size_t size = 0;
    const char *bytes = whole_text_is_special(k, id) ? NULL : rapt_tokenizer_token(k, id, &size);
    for (size_t i = 0; bytes && i < size; i++)
        if (!utf8_scan_byte(scan, bytes[i]))
            return false;
    return true;
}

static bool whole_text_scan(const rapt_tokenizer *k, const int32_t *tokens, size_t length, utf8_scan *scan)
{
    *scan = (utf8_scan){0};
    for (size_t i = 0; i < length; i++) {
        if (tokens[i] == RAPT_EOS && whole_text_is_special(k, RAPT_EOS))
            return true;
        if (!whole_text_take(k, tokens[i], scan))
            return false;
    }
    return true;
}

bool whole_text_is(const rapt_tokenizer *k, const int32_t *tokens, size_t length)
{
    utf8_scan scan;
    return rapt_tokenizer_kind_of(k) != RAPT_TOKENIZER_BYTE_BPE || (whole_text_scan(k, tokens, length, &scan) && scan.begun == 0);
}

bool whole_text_is_open(const rapt_tokenizer *k, const int32_t *tokens, size_t length)
{
    utf8_scan scan;
    return whole_text_scan(k, tokens, length, &scan) && scan.begun > 0;
}

void whole_text_ban(const rapt_tokenizer *k, const int32_t *tokens, size_t length, size_t classes, rapt_real *logits)
{
    utf8_scan scan;
    whole_text_scan(k, tokens, length, &scan);
    for (size_t id = 0; id < classes; id++) {
        utf8_scan next = scan;
        bool special = whole_text_is_special(k, (int32_t)id);
        if (special ? scan.begun > 0 : !whole_text_take(k, (int32_t)id, &next))
            logits[id] = -INFINITY;
    }
}

/* Whether a token is not part of a text, although decoding would keep it. */
static bool whole_text_drops(const rapt_tokenizer *k, int32_t id)
{
    size_t size;
    const char *text = rapt_tokenizer_token(k, id, &size);
    return text && strlen(text) == size && rapt_tokenizer_special(k, text) == id;
}

const char *whole_text_bytes(const rapt_tokenizer *k, int32_t id, size_t *size)
{
    const bool out = rapt_tokenizer_has_specials(k) ? whole_text_is_special(k, id) && id != RAPT_UNK : whole_text_drops(k, id);
    return out ? NULL : rapt_tokenizer_token(k, id, size);
}

char *whole_text_of(const rapt_tokenizer *k, const int32_t *tokens, size_t length)
{
    size_t kept = 0;
    if (rapt_tokenizer_has_specials(k))
        return rapt_tokenizer_decode(k, tokens, length, NULL);
    int32_t *ids = malloc((length + 1) * sizeof *ids);
    for (size_t i = 0; ids && i < length; i++)
        if (!whole_text_drops(k, tokens[i]))
            ids[kept++] = tokens[i];
    size_t size = 0;
    char *bytes = ids ? rapt_tokenizer_decode(k, ids, kept, &size) : NULL;
    char *text = bytes ? valid_text(bytes, size, &size, NULL) : NULL;
    free(bytes);
    free(ids);
    return text;
}

void whole_text_trim(const rapt_tokenizer *k, char *text)
{
    if (!rapt_tokenizer_has_specials(k))
        return;
    static const char replacement[] = "\xEF\xBF\xBD";
    const size_t size = sizeof replacement - 1;
    for (char *at = text; (at = strstr(at, replacement)) != NULL;)
        memmove(at, at + size, strlen(at + size) + 1);
}
