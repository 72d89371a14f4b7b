/* decode/greedy.c: the likeliest token at each position (the book's predict_seq2seq), and what both searches share.
 * For rapt_translate. */
#include "decode/search.h"

#include "base/arena.h"
#include "base/math.h"
#include "ops/tape.h"

#include <string.h>

rapt_code search_failure(const rapt_error *err)
{
    return err ? err->code : RAPT_NO_MEMORY;
}

double search_penalty(double a, size_t length)
{
    return a == 0 ? 1 : math_pow((5 + (double)length) / 6, a);
}

static rapt_tokens repeat(const search_batch *b, size_t copies, int32_t **lens, arena *memory)
{
    size_t time = b->source.time, rows = b->source.batch * copies;
    int32_t *ids = arena_array(memory, rows * time, sizeof *ids);
    *lens = arena_array(memory, rows, sizeof **lens);
    for (size_t i = 0; ids && *lens && i < rows; i++) {
        memcpy(ids + i * time, b->source.ids + i / copies * time, time * sizeof *ids);
        (*lens)[i] = b->source_lens[i / copies];
    }
    return (rapt_tokens){ids, rows, time};
}

static size_t longest_limit(const search_batch *b)
{
    size_t most = 1;
    for (size_t i = 0; i < b->source.batch; i++)
        most = b->limits[i] > most ? b->limits[i] : most;
    return most;
}

rapt_decoder_state *search_start(rapt_tape *t, const rapt_transformer *m, const search_batch *batch, size_t copies,
                                 arena *memory, rapt_error *err)
{
    int32_t *lens;
    rapt_tokens source = repeat(batch, copies, &lens, memory);
    if (!source.ids || !lens) {
        rapt_fail(err, RAPT_NO_MEMORY, "no memory to search");
        return NULL;
    }
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *encoded = rapt_encoder_forward(t, &m->encoder, source, lens);
    return rapt_decoder_state_new(t, &m->decoder, encoded, lens, longest_limit(batch), err);
}

const rapt_real *search_step(rapt_tape *t, const rapt_transformer *m, rapt_decoder_state *s, const int32_t *tokens,
                             size_t rows, rapt_error *err)
{
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *logits = rapt_decoder_step(t, &m->decoder, s, (rapt_tokens){tokens, rows, 1});
    return rapt_tape_status(t, err) ? NULL : logits->data;
}

static double log_probability(const kernels *k, const rapt_real *logits, size_t classes, size_t chosen)
{
    rapt_real max, sum;
    k->log_sum_exp(classes, logits, &max, &sum);
    return (double)logits[chosen] - (double)max - math_log((double)sum);
}

static rapt_code allocate(const search_batch *b, arena *memory, int32_t **tokens, search_result *results, rapt_error *err)
{
    *tokens = arena_array(memory, b->source.batch, sizeof **tokens);
    bool ok = *tokens != NULL;
    for (size_t i = 0; ok && i < b->source.batch; i++) {
        search_hypothesis *h = arena_zeroed(memory, 1, sizeof *h);
        results[i] = (search_result){h, 1};
        ok = h && (h->tokens = arena_array(memory, b->limits[i], sizeof *h->tokens));
        (*tokens)[i] = RAPT_BOS;
    }
    return ok ? RAPT_OK : rapt_fail(err, RAPT_NO_MEMORY, "no memory to search");
}

static bool is_done(const search_hypothesis *h, size_t limit)
{
    return h->length == limit || (h->length > 0 && h->tokens[h->length - 1] == RAPT_EOS);
}

/* Appends the likeliest token to each sentence that is not done; returns whether one is left. */
static bool extend(const kernels *k, const search_batch *b, const rapt_real *logits, size_t classes, int32_t *tokens,
                   search_result *results)
{
    bool left = false;
    for (size_t i = 0; i < b->source.batch; i++) {
        search_hypothesis *h = results[i].best;
        if (is_done(h, b->limits[i]))
            continue;
        size_t best = k->argmax(classes, logits + i * classes);
        h->score += log_probability(k, logits + i * classes, classes, best);
        h->tokens[h->length++] = tokens[i] = (int32_t)best;
        left = left || !is_done(h, b->limits[i]);
    }
    return left;
}

rapt_code search_greedy(rapt_tape *t, const rapt_transformer *m, const search_batch *batch, arena *memory,
                        search_result *results, rapt_error *err)
{
    int32_t *tokens;
    rapt_code code = allocate(batch, memory, &tokens, results, err);
    rapt_decoder_state *s = code ? NULL : search_start(t, m, batch, 1, memory, err);
    for (bool left = s != NULL; left;) {
        const rapt_real *logits = search_step(t, m, s, tokens, batch->source.batch, err);
        left = logits && extend(t->k, batch, logits, m->config.target_vocab, tokens, results);
        code = logits ? code : search_failure(err);
    }
    rapt_decoder_state_free(s);
    return s ? code : search_failure(err);
}
