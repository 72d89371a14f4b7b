/* decode/align.c: soft word alignments from cross-attention: its weights in a pass over the whole translation, as in training;
 * they equal the weights of the search. Not a trained aligner. */
#include "decode/align.h"

#include "io/model_core.h"

#include <stdlib.h>
#include <string.h>

/* [1, heads, targets, source tokens] of the last block. Query i chooses token i: its input is the token before. */
static rapt_tensor *align_weights_of(rapt_tape *t, const rapt_transformer *m, rapt_tokens source, rapt_tokens inputs)
{
    rapt_tape_capture_attention(t, RAPT_CAPTURE_BEFORE_DROPOUT);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_decoder_hidden(t, &m->decoder, inputs, rapt_encoder_forward(t, &m->encoder, source, NULL), NULL);
    rapt_tape_capture_attention(t, RAPT_CAPTURE_NONE);
    return rapt_tape_attention(t, m->decoder.blocks[m->decoder.layers - 1].cross_attention.name);
}

/* The mean of all heads; without <eos>, its column is 0. */
static void align_take_means(const rapt_tensor *w, rapt_alignment *a)
{
    size_t heads = w->shape[1], queries = w->shape[2], keys = w->shape[3];
    for (size_t i = 0; i < a->targets; i++)
        for (size_t j = 0; j < keys; j++) {
            double sum = 0;
            for (size_t h = 0; h < heads; h++)
                sum += (double)w->data[(h * queries + i) * keys + j];
            a->weights[i * (a->sources + 1) + j] = (rapt_real)(sum / (double)heads);
        }
}

static size_t align_without_end(const int32_t *ids, size_t count, int32_t eos)
{
    return count > 0 && ids[count - 1] == eos ? count - 1 : count;
}

static rapt_code align_run(rapt_tape *t, const rapt_model *m, rapt_tokens source, int32_t *inputs, const int32_t *target,
                           rapt_alignment *a, rapt_error *err)
{
    inputs[0] = m->translation.special.bos;
    memcpy(inputs + 1, target, (a->targets - 1) * sizeof *inputs);
    const rapt_tensor *w = align_weights_of(t, m->translation.net, source, (rapt_tokens){inputs, 1, a->targets});
    rapt_code code = rapt_tape_status(t, err);
    if (!code)
        align_take_means(w, a);
    return code;
}

/* Rows, and memory for `elements` weights; false when out of memory. */
static bool align_allocate(rapt_alignment *a, size_t elements)
{
    a->rows = malloc((a->targets + 1) * sizeof *a->rows);
    a->weights = calloc(elements + 1, sizeof *a->weights);
    if (a->rows && a->weights)
        return true;
    align_free(a);
    return false;
}

static rapt_code align_fill(rapt_tape *t, const rapt_model *m, rapt_tokens source, const int32_t *target, rapt_alignment *a,
                            rapt_error *err)
{
    int32_t *inputs = malloc(a->targets * sizeof *inputs);
    rapt_code code = inputs ? align_run(t, m, source, inputs, target, a, err)
                            : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for an alignment");
    for (size_t i = 0; i < a->targets; i++)
        a->rows[i] = (rapt_alignment_row){0, a->sources, a->weights + i * (a->sources + 1)};
    free(inputs);
    return code;
}

rapt_code align_tokens(rapt_tape *t, const rapt_model *m, const int32_t *source, size_t count, const int32_t *target,
                       size_t length, rapt_alignment *out, rapt_error *err)
{
    *out = (rapt_alignment){.targets = align_without_end(target, length, m->translation.special.eos),
                            .sources = align_without_end(source, count, m->translation.special.eos)};
    if (out->targets == 0)
        return RAPT_OK;
    if (!align_allocate(out, out->targets * (out->sources + 1)))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for an alignment");
    rapt_code code = align_fill(t, m, (rapt_tokens){source, 1, count}, target, out, err);
    if (code)
        align_free(out);
    return code;
}

void align_free(rapt_alignment *a)
{
    free(a->rows);
    free(a->weights);
    *a = (rapt_alignment){0};
}

bool align_join(const rapt_alignment *const *segments, size_t count, rapt_alignment *out)
{
    size_t elements = 0, sources = 0; /* so far */
    *out = (rapt_alignment){0};
    for (size_t p = 0; p < count; p++) {
        elements += segments[p]->targets * (segments[p]->sources + 1);
        out->targets += segments[p]->targets;
        out->sources += segments[p]->sources;
    }
    if (elements == 0)
        return true;
    if (!align_allocate(out, elements))
        return false;
    rapt_alignment_row *row = out->rows;
    rapt_real *weights = out->weights;
    for (size_t p = 0; p < count; sources += segments[p++]->sources)
        for (size_t i = 0; i < segments[p]->targets; i++) {
            rapt_alignment_row from = segments[p]->rows[i];
            memcpy(weights, from.weights, (from.count + 1) * sizeof *weights);
            *row++ = (rapt_alignment_row){sources + from.first, from.count, weights};
            weights += from.count + 1;
        }
    return true;
}
