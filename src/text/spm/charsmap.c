/* text/spm/charsmap.c: the longest prefix of a text in a precompiled character map. For spm_normalize.c. The frame of the file is
 * as in SentencePiece (normalizer.cc). */
#include "text/spm/charsmap.h"

#include "text/double_array.h"

enum { UNIT = DOUBLE_ARRAY_UNIT, LABELS = 256, BLOCK = UNIT * LABELS, MAX_FOUND = 32 }; /* MAX_FOUND: as in SentencePiece */
#define VALUE DOUBLE_ARRAY_VALUE

/* Checks that for every label the next unit is inside the trie, and a replacement inside the texts. This must also hold for units
 * to which no text leads. */
static rapt_code check_unit(const charsmap *m, size_t i, rapt_error *err)
{
    const uint32_t unit = double_array_at(m->units, i);
    const size_t base = i ^ double_array_offset(unit);
    const unsigned place = unit & ~VALUE;
    if (unit & VALUE && place >= m->size)
        return rapt_fail(err, RAPT_ERR_FORMAT, "the character map has a replacement at byte %u of %zu", place, m->size);
    if (unit & VALUE)
        return RAPT_OK;
    if ((base | (LABELS - 1)) >= m->count)
        return rapt_fail(err, RAPT_ERR_FORMAT, "unit %zu of the character map leads to unit %zu of %zu", i, base, m->count);
    if (unit & DOUBLE_ARRAY_VALUE_BELOW && !(double_array_at(m->units, base) & VALUE))
        return rapt_fail(err, RAPT_ERR_FORMAT, "unit %zu of the character map has no value", i);
    return RAPT_OK;
}

static rapt_code check_units(const charsmap *m, rapt_error *err)
{
    const uint32_t root = double_array_at(m->units, 0);
    rapt_code code = !double_array_is(root, 0) || root & DOUBLE_ARRAY_VALUE_BELOW || double_array_offset(root) == 0
                         ? rapt_fail(err, RAPT_ERR_FORMAT, "the character map does not begin with a root")
                         : RAPT_OK;
    for (size_t i = 0; i < m->count && !code; i++)
        code = check_unit(m, i, err);
    return code;
}

rapt_code charsmap_open(charsmap *m, const char *blob, size_t size, rapt_error *err)
{
    *m = (charsmap){0};
    const size_t trie = size < UNIT ? 0 : double_array_u32(blob);
    if (size < UNIT || trie > size - UNIT)
        return rapt_fail(err, RAPT_ERR_FORMAT, "a character map of %zu bytes whose trie has %zu", size, trie);
    if (trie % BLOCK != 0 || trie == 0)
        return rapt_fail(err, RAPT_ERR_FORMAT, "a character map whose trie has %zu bytes, no multiple of %d", trie, BLOCK);
    charsmap found = {(const unsigned char *)blob + UNIT, trie / UNIT, blob + UNIT + trie, size - UNIT - trie};
    if (found.size == 0 || found.texts[found.size - 1] != '\0')
        return rapt_fail(err, RAPT_ERR_FORMAT, "the last replacement of the character map does not end");
    rapt_code code = check_units(&found, err);
    if (!code)
        *m = found;
    return code;
}

const char *charsmap_blob(const charsmap *m, size_t *size)
{
    *size = m->count > 0 ? UNIT + UNIT * m->count + m->size : 0;
    return m->count > 0 ? (const char *)m->units - UNIT : NULL;
}

size_t charsmap_match(const charsmap *m, const char *text, size_t size, const char **to)
{
    size_t longest = 0, at = m->count ? double_array_offset(double_array_at(m->units, 0)) : 0;
    uint32_t unit;
    for (size_t i = 0, found = 0; i < size && found < MAX_FOUND && double_array_step(m->units, m->count, &at, text[i], &unit);
         i++) {
        if (unit & DOUBLE_ARRAY_VALUE_BELOW) {
            longest = i + 1;
            found++;
            *to = m->texts + (double_array_at(m->units, at) & ~VALUE);
        }
    }
    return longest;
}
