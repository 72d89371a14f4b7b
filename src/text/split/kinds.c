/* text/split/kinds.c: each set splits the code points further; code points that stay together are a kind. The table of kinds
 * consists of blocks, and equal blocks are stored once. */
#include "text/split/kinds.h"

#include "text/unicode/unicode.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BITS = 8, BLOCK = 1 << BLOCK_BITS, BLOCKS = UNICODE_END / BLOCK, PARTS = 1 << 16, NO_PART = PARTS - 1 };

struct kinds {
    uint16_t block[BLOCKS]; /* the number of each block's data */
    uint8_t *data;          /* [blocks][BLOCK] */
    size_t count, capacity;
    uint32_t example[KINDS_MAX + 1]; /* a character of each kind */
    unsigned kinds;                  /* how many, with KIND_NONE */
};

/* A set cuts a part of the code points into two parts. */
typedef struct parting {
    uint16_t *part; /* [UNICODE_END] */
    uint16_t *new_part; /* [PARTS]: the new part for members of the set; NO_PART: none yet */
    size_t count;
} parting;

static bool part_range(parting *p, uint32_t first, uint32_t end)
{
    for (uint32_t code = first; code < end; code++) {
        uint16_t *to = &p->new_part[p->part[code]];
        if (*to == NO_PART) {
            if (p->count >= NO_PART)
                return false;
            *to = (uint16_t)p->count++;
        }
        p->part[code] = *to;
    }
    return true;
}

/* A set and its complement cut in the same way: the smaller of the two becomes new parts, so that a thousand sets such as [^a]
 * take less than a second. */
static bool part_by(parting *p, const code_set *set)
{
    size_t size = 0;
    uint32_t from = 0;
    bool fits = true;
    for (size_t i = 0; i < p->count; i++)
        p->new_part[i] = NO_PART;
    for (size_t i = 0; i < set->count; i++)
        size += set->ranges[i].end - set->ranges[i].first;
    const bool rest = size > UNICODE_END / 2;
    for (size_t i = 0; fits && i < set->count; i++) {
        const code_range r = set->ranges[i];
        fits = rest ? part_range(p, from, r.first) : part_range(p, r.first, r.end);
        from = r.end;
    }
    return fits && (!rest || part_range(p, from, UNICODE_END));
}

/* Parts that are not empty become kinds, from 1 on, in the order in which they begin. */
static bool number_kinds(kinds *k, parting *p)
{
    for (size_t i = 0; i < p->count; i++)
        p->new_part[i] = 0;
    k->kinds = 1;
    for (uint32_t code = 0; code < UNICODE_END; code++) {
        uint16_t *kind = &p->new_part[p->part[code]];
        if (*kind == 0) {
            if (k->kinds > KINDS_MAX)
                return false;
            k->example[k->kinds] = code;
            *kind = (uint16_t)k->kinds++;
        }
        p->part[code] = *kind;
    }
    return true;
}

static bool kinds_add_block(kinds *k, size_t at, const uint8_t block[BLOCK])
{
    for (size_t i = k->count; i-- > 0;)
        if (memcmp(k->data + i * BLOCK, block, BLOCK) == 0) {
            k->block[at] = (uint16_t)i;
            return true;
        }
    if (!ARRAY_RESERVE(&k->data, &k->capacity, (k->count + 1) * BLOCK))
        return false;
    memcpy(k->data + k->count * BLOCK, block, BLOCK);
    k->block[at] = (uint16_t)k->count++;
    return true;
}

static rapt_code kinds_make(kinds *k, parting *p, const code_set *sets, size_t count, rapt_error *err)
{
    bool fits = true, ok = true;
    p->part = calloc(UNICODE_END, sizeof *p->part);
    p->new_part = malloc(PARTS * sizeof *p->new_part);
    p->count = 1;
    if (!p->part || !p->new_part)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a pattern");
    for (size_t i = 0; fits && i < count; i++)
        fits = part_by(p, &sets[i]);
    if (!fits || !number_kinds(k, p))
        return rapt_fail(err, RAPT_ERR_FORMAT, "pattern: it tells more than %d kinds of characters apart", KINDS_MAX);
    for (size_t i = 0; ok && i < BLOCKS; i++) {
        uint8_t block[BLOCK];
        for (size_t j = 0; j < BLOCK; j++)
            block[j] = (uint8_t)p->part[i * BLOCK + j];
        ok = kinds_add_block(k, i, block);
    }
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a pattern");
}

kinds *kinds_new(const code_set *sets, size_t count, rapt_error *err)
{
    kinds *k = calloc(1, sizeof *k);
    parting p = {0};
    rapt_code code = k ? kinds_make(k, &p, sets, count, err) : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a pattern");
    free(p.part);
    free(p.new_part);
    if (code == RAPT_OK)
        return k;
    kinds_free(k);
    return NULL;
}

void kinds_free(kinds *k)
{
    if (k)
        free(k->data);
    free(k);
}

void kinds_of_set(const kinds *k, const code_set *set, bool has[KINDS_MAX + 1])
{
    has[KIND_NONE] = false;
    for (unsigned i = 1; i <= KINDS_MAX; i++)
        has[i] = i < k->kinds && code_set_has(set, k->example[i]);
}

size_t kinds_of_text(const kinds *k, const char *text, size_t size, size_t at, uint8_t *out, size_t room, size_t *end)
{
    const uint8_t *ascii = k->data + k->block[0] * (size_t)BLOCK;
    size_t count = 0;
    while (count < room && at < size) {
        unsigned char byte = (unsigned char)text[at];
        uint32_t code;
        if (byte < 0x80) {
            out[count++] = ascii[byte];
            at++;
            continue;
        }
        const unsigned char *c = (const unsigned char *)text + at;
        size_t used = 2;
        if (byte >= 0xC2 && byte < 0xE0 && size - at >= 2 && (c[1] & 0xC0) == 0x80) {
            code = (byte & 0x1Fu) << 6 | (c[1] & 0x3F); /* most characters beyond ASCII, without a call */
        } else if (byte > 0xE0 && byte < 0xED && size - at >= 3 && (c[1] & 0xC0) == 0x80 && (c[2] & 0xC0) == 0x80) {
            code = (byte & 0xFu) << 12 | (c[1] & 0x3Fu) << 6 | (c[2] & 0x3F);
            used = 3;
        } else
            used = utf8_decode(text + at, size - at, &code);
        out[count++] = used ? k->data[k->block[code >> BLOCK_BITS] * (size_t)BLOCK + (code & (BLOCK - 1))] : KIND_NONE;
        at += used ? used : 1;
    }
    *end = at;
    return count;
}
