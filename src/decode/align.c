/* decode/align.c: alignments from attention: the weights of a pass over the whole translation, as in training, which are
 * those of the search. Not a trained aligner. */
#include "decode/align.h"

#include <stdlib.h>
#include <string.h>

/* Row i looks for token i: its input is the token before. */
static rapt_tensor *weights_of(rapt_tape *t, const rapt_transformer *m, rapt_tokens source, rapt_tokens inputs)
{
    rapt_tape_watch_attention(t, RAPT_WEIGHTS_BEFORE_DROPOUT);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_decoder_hidden(t, &m->decoder, inputs, rapt_encoder_forward(t, &m->encoder, source, NULL), NULL);
    rapt_tape_watch_attention(t, RAPT_WEIGHTS_NONE);
    return rapt_tape_attention(t, m->decoder.blocks[m->decoder.layers - 1].cross_attention.name);
}

/* The mean of all heads; without <eos>, its column is 0. */
static void take_means(const rapt_tensor *w, rapt_alignment *a)
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

static size_t without_end(const int32_t *ids, size_t count)
{
    return count > 0 && ids[count - 1] == RAPT_EOS ? count - 1 : count;
}

static rapt_code run(rapt_tape *t, const rapt_transformer *m, rapt_tokens source, int32_t *inputs, const int32_t *target,
                     rapt_alignment *a, rapt_error *err)
{
    inputs[0] = RAPT_BOS;
    memcpy(inputs + 1, target, (a->targets - 1) * sizeof *inputs);
    const rapt_tensor *w = weights_of(t, m, source, (rapt_tokens){inputs, 1, a->targets});
    rapt_code code = rapt_tape_status(t, err);
    if (!code)
        take_means(w, a);
    return code;
}

rapt_code align_tokens(rapt_tape *t, const rapt_transformer *m, const int32_t *source, size_t count, const int32_t *target,
                       size_t length, rapt_alignment *out, rapt_error *err)
{
    rapt_alignment a = {.targets = without_end(target, length), .sources = without_end(source, count)};
    *out = a;
    if (a.targets == 0)
        return RAPT_OK;
    int32_t *inputs = malloc(a.targets * sizeof *inputs);
    a.weights = calloc(a.targets * (a.sources + 1), sizeof *a.weights);
    rapt_code code = inputs && a.weights ? run(t, m, (rapt_tokens){source, 1, count}, inputs, target, &a, err)
                                         : rapt_fail(err, RAPT_NO_MEMORY, "no memory for an alignment");
    free(inputs);
    if (code)
        free(a.weights);
    else
        *out = a;
    return code;
}

/* Rows of `from` into a wider matrix: its columns go to `column`, the last one stays the last. */
static void copy_rows(rapt_real *to, size_t width, const rapt_alignment *from, size_t column)
{
    for (size_t i = 0; i < from->targets; i++) {
        const rapt_real *row = from->weights + i * (from->sources + 1);
        memcpy(to + i * width + column, row, from->sources * sizeof *row);
        to[i * width + width - 1] = row[from->sources];
    }
}

bool align_append(rapt_alignment *a, const rapt_alignment *more)
{
    size_t targets = a->targets + more->targets, width = a->sources + more->sources + 1;
    rapt_real *weights = calloc(targets ? targets * width : 1, sizeof *weights);
    if (!weights)
        return false;
    copy_rows(weights, width, a, 0);
    copy_rows(weights + a->targets * width, width, more, a->sources);
    free(a->weights);
    *a = (rapt_alignment){targets, width - 1, weights};
    return true;
}
