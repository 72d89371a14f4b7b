/* text/bpe/token_rows.c: lays the distinct pieces out in one array. For the BPE trainer, which decides what to merge, and merges
 * in this array. */
#include "text/bpe/token_rows.h"

#include <stdlib.h>

static bool has_pair(const piece *p)
{
    return p->count > 0 && p->length > 1;
}

static rapt_code reserve_slots(token_rows *r, const piece_table *pieces, rapt_error *err)
{
    size_t slots = 1, rows = 0;
    for (size_t i = 0; i < pieces->slot_count; i++) {
        bool wanted = has_pair(&pieces->slots[i]);
        slots += wanted ? pieces->slots[i].length + 1 : 0;
        rows += wanted;
    }
    if (slots > UINT32_MAX)
        return rapt_fail(err, RAPT_ERR_VALUE, "the distinct pieces of the text have %zu bytes; at most 4 GiB can be learned from",
                         slots);
    r->slots = malloc(slots * sizeof *r->slots);
    r->weights = malloc((rows + 1) * sizeof *r->weights);
    if (!r->slots || !r->weights)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the %zu bytes of the distinct pieces", slots);
    return RAPT_OK;
}

rapt_code token_rows_build(token_rows *r, const piece_table *pieces, rapt_error *err)
{
    rapt_code code = reserve_slots(r, pieces, err);
    if (code)
        return code;
    uint32_t rows = 0;
    r->slots[r->size++].token = ROWS_EDGE;
    for (size_t i = 0; i < pieces->slot_count; i++) {
        const piece *p = &pieces->slots[i];
        if (!has_pair(p))
            continue;
        const unsigned char *bytes = (const unsigned char *)pieces->bytes + p->start;
        for (size_t j = 0; j < p->length; j++, r->size++)
            r->slots[r->size] = (token_slot){bytes[j], (uint32_t)r->size, rows};
        r->slots[r->size++].token = ROWS_EDGE;
        r->weights[rows++] = p->count;
    }
    return RAPT_OK;
}

rapt_code token_rows_reserve(token_rows *r, size_t tokens, rapt_error *err)
{
    r->lengths = calloc(tokens, sizeof *r->lengths);
    if (!r->lengths)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu tokens", tokens);
    for (size_t i = 0; i < 256; i++)
        r->lengths[i] = 1;
    return RAPT_OK;
}

void token_rows_free(token_rows *r)
{
    free(r->slots);
    free(r->weights);
    free(r->lengths);
    *r = (token_rows){0};
}
