/* nn/decoder_parts.c: one decoding step of several batches. decoder.c runs the blocks: batches differ in their attention only. */
#include "nn/decoder_parts.h"

#include "nn/decoder_core.h"
#include "nn/decoder_state.h"
#include "tape/tape_core.h"

#include <string.h>

static rapt_tensor *decoder_parts_layer(rapt_tape *t, const rapt_decoder *m, const decoder_part *parts, size_t count,
                                        const rapt_cached_row *positions, size_t layer, rapt_tensor *x)
{
    attention_part *of = tape_alloc(t, count, sizeof *of);
    size_t first = 0;
    if (!of)
        return x;
    for (size_t i = 0; i < count; first += parts[i].rows, i++)
        of[i] = (attention_part){first, parts[i].rows, rapt_kv_cache_layer(parts[i].state->self, layer),
                                 rapt_decoder_state_past(parts[i].state), decoder_state_memory(parts[i].state, layer)};
    return decoder_block_step(t, &m->blocks[layer], x, (decoder_reads){.parts = of, .count = count, .positions = positions});
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
