/* text/spm/charsmap.c: the longest prefix of a text in a precompiled character map; see charsmap.h. For spm_normalize.c. The
 * layout of a unit is that of Darts-clone (darts.h, DoubleArrayUnit), the frame that of SentencePiece (normalizer.cc). */
#include "text/spm/charsmap.h"

enum { UNIT = 4, LABELS = 256, BLOCK = UNIT * LABELS, MAX_FOUND = 32 }; /* MAX_FOUND: as in SentencePiece */
#define VALUE (UINT32_C(1) << 31)
#define LEAF_BELOW (UINT32_C(1) << 8)
#define FAR (UINT32_C(1) << 9)

static uint32_t read_u32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint32_t unit_at(const charsmap *m, size_t i)
{
    return read_u32(m->units + i * UNIT);
}

static size_t offset_of(uint32_t unit)
{
    return (size_t)(unit >> 10) << (unit & FAR ? 8 : 0);
}

/* Whatever label follows, the next unit is inside; and so is a replacement. Units that no text leads to are held to it too. */
static rapt_code check_unit(const charsmap *m, size_t i, rapt_error *err)
{
    const uint32_t unit = unit_at(m, i);
    const size_t base = i ^ offset_of(unit);
    const unsigned place = unit & ~VALUE;
    if (unit & VALUE && place >= m->size)
        return rapt_fail(err, RAPT_ERR_FORMAT, "the character map has a replacement at byte %u of %zu", place, m->size);
    if (unit & VALUE)
        return RAPT_OK;
    if ((base | (LABELS - 1)) >= m->count)
        return rapt_fail(err, RAPT_ERR_FORMAT, "unit %zu of the character map leads to unit %zu of %zu", i, base, m->count);
    if (unit & LEAF_BELOW && !(unit_at(m, base) & VALUE))
        return rapt_fail(err, RAPT_ERR_FORMAT, "unit %zu of the character map has no value", i);
    return RAPT_OK;
}

static rapt_code check_units(const charsmap *m, rapt_error *err)
{
    const uint32_t root = unit_at(m, 0);
    rapt_code code = root & (VALUE | LEAF_BELOW | 0xFF) || offset_of(root) == 0
                         ? rapt_fail(err, RAPT_ERR_FORMAT, "the character map does not begin with a root")
                         : RAPT_OK;
    for (size_t i = 0; i < m->count && !code; i++)
        code = check_unit(m, i, err);
    return code;
}

rapt_code charsmap_open(charsmap *m, const char *blob, size_t size, rapt_error *err)
{
    *m = (charsmap){0};
    const size_t trie = size < UNIT ? 0 : read_u32((const unsigned char *)blob);
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

size_t charsmap_match(const charsmap *m, const char *text, size_t size, const char **to)
{
    size_t longest = 0, at = m->count ? offset_of(unit_at(m, 0)) : 0;
    for (size_t i = 0, found = 0; m->count && i < size && found < MAX_FOUND; i++) {
        const uint32_t label = (unsigned char)text[i];
        at ^= label;
        const uint32_t unit = unit_at(m, at);
        if ((unit & (VALUE | 0xFF)) != label)
            break;
        at ^= offset_of(unit);
        if (unit & LEAF_BELOW) {
            longest = i + 1;
            found++;
            *to = m->texts + (unit_at(m, at) & ~VALUE);
        }
    }
    return longest;
}
