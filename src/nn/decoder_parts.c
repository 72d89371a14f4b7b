/* nn/decoder_parts.c: computes the blocks of decoder.c for several batches at once; only attention treats the parts
 * differently. */
#include "nn/decoder_parts.h"

#include "nn/attention_parts.h"
#include "nn/decoder_core.h"
#include "nn/decoder_state.h"
#include "tape/tape_core.h"

#include <string.h>

/* All parts, in one layer. */
typedef struct decoder_parts_block {
    const rapt_decoder_block *block;
    const attention_part *parts; /* [count] */
    size_t count;
    const rapt_cached_row *positions; /* of each row */
} decoder_parts_block;

static rapt_tensor *decoder_run_parts(rapt_tape *t, const void *module, const rapt_block_input *in)
{
    const decoder_parts_block *b = module;
    const rapt_decoder_block *m = b->block;
    rapt_tensor *x = in->x, *h = rapt_add_norm_before(t, &m->norm1, x);
    rapt_tensor *y = attention_parts_causal(t, &m->self_attention, h, b->parts, b->count, b->positions);
    x = rapt_add_norm_after(t, &m->norm1, x, y);
    h = rapt_add_norm_before(t, &m->norm2, x);
    y = attention_parts_cross(t, &m->cross_attention, h, b->parts, b->count);
    x = rapt_add_norm_after(t, &m->norm2, x, y);
    h = rapt_add_norm_before(t, &m->norm3, x);
    return rapt_add_norm_after(t, &m->norm3, x, rapt_ffn_forward(t, &m->ffn, h));
}

static rapt_tensor *decoder_parts_layer(rapt_tape *t, const rapt_decoder *m, const decoder_part *parts, size_t count,
                                        const rapt_cached_row *positions, size_t layer, rapt_tensor *x)
{
    decoder_parts_block *b = tape_alloc(t, 1, sizeof *b);
    attention_part *of = tape_alloc(t, count, sizeof *of);
    size_t first = 0;
    if (!b || !of)
        return x;
    for (size_t i = 0; i < count; first += parts[i].rows, i++)
        of[i] = (attention_part){first, parts[i].rows, rapt_kv_cache_layer(parts[i].state->self, layer),
                                 rapt_decoder_state_past(parts[i].state), decoder_state_memory(parts[i].state, layer)};
    *b = (decoder_parts_block){&m->blocks[layer], of, count, positions};
    return tape_run_once(t, decoder_run_parts, b, (rapt_block_input){.x = x});
}

/* The tokens of the parts, one after the other, and the position of each row; NULL ids if the tape has failed. */
static rapt_tokens decoder_gather_parts(rapt_tape *t, const decoder_part *parts, size_t count, rapt_cached_row **positions)
{
    size_t rows = 0, row = 0;
    for (size_t i = 0; i < count; i++)
        rows += parts[i].rows;
    int32_t *ids = tape_alloc(t, rows, sizeof *ids);
    *positions = tape_alloc(t, rows, sizeof **positions);
    if (!ids || !*positions)
        return (rapt_tokens){0};
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < parts[i].rows; j++, row++) {
            ids[row] = parts[i].tokens[j];
            (*positions)[row] = (rapt_cached_row){row, rapt_decoder_state_past(parts[i].state)};
        }
    return (rapt_tokens){ids, rows, 1};
}

rapt_tensor *decoder_step_parts(rapt_tape *t, const rapt_decoder *m, const decoder_part *parts, size_t count)
{
    rapt_cached_row *positions;
    for (size_t i = 0; i < count; i++) {
        rapt_tensor *bad = decoder_state_prepare(t, m, parts[i].state, (rapt_tokens){parts[i].tokens, parts[i].rows, 1});
        if (bad)
            return bad;
    }
    const rapt_tokens tokens = decoder_gather_parts(t, parts, count, &positions);
    if (!tokens.ids)
        return &t->poison;
    rapt_tensor *x = rapt_preprocess_cached(t, &m->input, tokens, positions);
    for (size_t i = 0; i < m->layers; i++)
        x = decoder_parts_layer(t, m, parts, count, positions, i, x);
    rapt_tensor *logits = decoder_logits(t, m, decoder_last_norm(t, m, x));
    for (size_t i = 0; i < count && !tape_failed(t); i++)
        rapt_kv_cache_advance(parts[i].state->self, 1);
    return logits;
}
