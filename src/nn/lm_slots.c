/* nn/lm_slots.c: a pass of a language model over chunks of several texts. The tokens are one ragged batch; only attention treats
 * the texts differently. */
#include "nn/lm_slots.h"

#include "nn/lm_core.h"
#include "tape/tape_core.h"

#include <string.h>

rapt_kv_cache *lm_slots_new(const rapt_lm *m, size_t slots, rapt_storage storage, rapt_error *err)
{
    rapt_kv_sizes sizes = rapt_lm_kv_sizes(m, slots);
    sizes.storage = storage;
    sizes.sparse = true;
    return rapt_kv_cache_new(sizes, err);
}

/* Pieces as rows of tokens with lengths. Out of memory the tape has failed. */
static rapt_tokens lm_slots_tokens(rapt_tape *t, const lm_piece *pieces, size_t count)
{
    size_t longest = 0;
    for (size_t i = 0; i < count; i++)
        longest = pieces[i].count > longest ? pieces[i].count : longest;
    int32_t *ids = tape_alloc(t, count * longest, sizeof *ids), *lens = tape_alloc(t, count, sizeof *lens);
    for (size_t i = 0; ids && lens && i < count; i++) {
        int32_t *row = ids + i * longest;
        lens[i] = (int32_t)pieces[i].count;
        memset(row, 0, longest * sizeof *row);
        memcpy(row, pieces[i].ids, pieces[i].count * sizeof *row);
    }
    return (rapt_tokens){ids, count, longest, lens};
}

static rapt_tensor *lm_slots_check(rapt_tape *t, const rapt_lm *m, const rapt_kv_cache *slots, const lm_piece *pieces, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const size_t past = kv_cache_row_past(slots, pieces[i].slot);
        if (pieces[i].count == 0 || pieces[i].count > m->config.context - past)
            return rapt_tape_fail(t, RAPT_ERR_SHAPE, "%zu tokens behind %zu in row %zu; the model's context is %zu",
                                  pieces[i].count, past, i, m->config.context);
    }
    return NULL;
}

static size_t lm_piece_wants(const lm_piece *p)
{
    return p->logits == LM_PIECE_ALL ? p->count : p->logits == LM_PIECE_LAST;
}

static size_t lm_slots_rows(const lm_piece *pieces, size_t count)
{
    size_t rows = 0;
    for (size_t i = 0; i < count; i++)
        rows += lm_piece_wants(&pieces[i]);
    return rows;
}

/* The rows of x [all tokens, d_model] whose logits are wanted: [rows, 1, d_model]. */
static rapt_tensor *lm_slots_gather(rapt_tape *t, const rapt_tensor *x, const lm_piece *pieces, size_t count, size_t rows)
{
    const size_t d = rapt_tensor_features(x);
    size_t token = 0, row = 0;
    rapt_tensor *y = rapt_tape_tensor(t, 3, (size_t[]){rows, 1, d}, false);
    for (size_t i = 0; !rapt_tape_error(t)->code && i < count; i++) {
        const size_t wanted = lm_piece_wants(&pieces[i]);
        token += pieces[i].count;
        memcpy(y->data + row * d, x->data + (token - wanted) * d, wanted * d * sizeof *y->data);
        row += wanted;
    }
    return y;
}

rapt_tensor *lm_slots_step(rapt_tape *t, const rapt_lm *m, rapt_kv_cache *slots, const lm_piece *pieces, size_t count)
{
    const rapt_tokens tokens = lm_slots_tokens(t, pieces, count);
    rapt_cached_row *rows = tape_alloc(t, count, sizeof *rows);
    rapt_kv *layers = rapt_kv_cache_layer(slots, 0);
    rapt_tensor *bad = !rows || tape_failed(t) ? &t->poison : lm_check_ids(t, m, tokens, 0);
    if (bad || (bad = lm_slots_check(t, m, slots, pieces, count)))
        return bad;
    for (size_t i = 0; i < count; i++)
        rows[i] = (rapt_cached_row){pieces[i].slot, kv_cache_row_past(slots, pieces[i].slot)};
    for (size_t i = 0; i < m->layers; i++)
        layers[i].cached = rows;
    rapt_tensor *x = lm_blocks(t, m, rapt_preprocess_cached(t, &m->input, tokens, rows), layers, 0);
    const size_t wanted = lm_slots_rows(pieces, count);
    if (wanted > 0 && !tape_failed(t))
        x = lm_logits(t, m, lm_slots_gather(t, x, pieces, count, wanted));
    for (size_t i = 0; i < m->layers; i++)
        layers[i].cached = NULL; /* they are of this pass */
    for (size_t i = 0; !tape_failed(t) && i < count; i++)
        kv_cache_row_advance(slots, pieces[i].slot, pieces[i].count);
    return x;
}
