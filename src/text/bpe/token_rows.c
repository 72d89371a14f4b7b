/* text/bpe/token_rows.c: lays the distinct pieces out in one array. For the BPE trainer, which decides what to merge, and merges
 * in this array. */
#include "text/bpe/bpe_train_parts.h"

#include <stdlib.h>

static bool has_pair(const token_counts *pieces, size_t i)
{
    return pieces->counts[i] > 0 && pieces->tokens.spans[i].length > 1;
}

static rapt_code reserve_slots(token_rows *r, const token_counts *pieces, rapt_error *err)
{
    size_t slots = 1, rows = 0;
    for (size_t i = 0; i < pieces->tokens.size; i++) {
        bool wanted = has_pair(pieces, i);
        slots += wanted ? (size_t)pieces->tokens.spans[i].length + 1 : 0;
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

rapt_code token_rows_build(token_rows *r, const token_counts *pieces, rapt_error *err)
{
    rapt_code code = reserve_slots(r, pieces, err);
    if (code)
        return code;
    uint32_t rows = 0;
    r->slots[r->size++].token = ROWS_EDGE;
    for (size_t i = 0, length; i < pieces->tokens.size; i++) {
        if (!has_pair(pieces, i))
            continue;
        const char *bytes = token_list_at(&pieces->tokens, (int64_t)i, &length);
        for (size_t j = 0; j < length; j++, r->size++)
            r->slots[r->size] = (token_slot){(unsigned char)bytes[j], (uint32_t)r->size, rows};
        r->slots[r->size++].token = ROWS_EDGE;
        r->weights[rows++] = pieces->counts[i];
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
