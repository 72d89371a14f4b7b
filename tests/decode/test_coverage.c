/* tests/decode/test_coverage.c: the coverage penalty against its formula (Wu et al. 2016, eq. 14), by attention in
 * passes of its own; the hypotheses are the same as without it, in another order. A patience of a policy's search.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/translate_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 4, BEAM = 5 };

static const char *const lines[LINES] = {"w1 w2 w3", "w4", "w9 w8 w7 w6 w5 w4", ""};

/* sum_i log(min(sum_j p_ij, 1)), by a pass over the translation with its <eos>. */
static double coverage(const rapt_model *m, const rapt_translation *of, const rapt_hypothesis *h)
{
    rapt_error err = {0};
    int32_t source[64], inputs[64] = {RAPT_BOS};
    double sum = 0;
    const size_t keys = of->source_count + 1, queries = h->token_count + 1;
    rapt_tape *t = rapt_tape_new(NULL, &err);
    assert_non_null(t);
    if (of->source_count) /* an empty line has no tokens */
        memcpy(source, of->source, of->source_count * sizeof *source);
    source[of->source_count] = RAPT_EOS;
    if (h->token_count)
        memcpy(inputs + 1, h->tokens, h->token_count * sizeof *inputs);
    rapt_tape_capture_attention(t, RAPT_CAPTURE_BEFORE_DROPOUT);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_transformer_forward(t, m->translation.net, (rapt_tokens){source, 1, keys}, NULL, (rapt_tokens){inputs, 1, queries});
    assert_int_equal(rapt_tape_status(t, &err), RAPT_OK);
    const rapt_decoder *d = &m->translation.net->decoder;
    const rapt_tensor *w = rapt_tape_attention(t, d->blocks[d->layers - 1].cross_attention.name); /* [1, heads, queries, keys] */
    const size_t heads = w->shape[1];
    for (size_t i = 0; i < keys; i++) {
        double covered = 0;
        for (size_t row = 0; row < heads * queries; row++)
            covered += (double)w->data[row * keys + i] / (double)heads;
        sum += log(covered < 1 ? covered : 1);
    }
    rapt_tape_free(t);
    return sum;
}

static const rapt_hypothesis *with_tokens(const rapt_translation *t, const rapt_hypothesis *h)
{
    for (size_t n = 0; n < t->count; n++) {
        const rapt_hypothesis *x = &t->hypotheses[n];
        const size_t size = h->token_count * sizeof *h->tokens;
        if (x->token_count == h->token_count && (size == 0 || memcmp(x->tokens, h->tokens, size) == 0))
            return x;
    }
    return NULL;
}

static void scores_have_the_penalty(void **state)
{
    (void)state;
    rapt_model *m = case_translation_model(12, 2);
    rapt_translation plain[LINES], out[LINES], best[LINES];
    size_t moved = 0;
    rapt_translate_options o = TRANSLATE(.beam = BEAM, .n_best = BEAM, .alignment = true, .tokens = true);
    assert_int_equal(rapt_translate(m, lines, LINES, &o, plain, NULL), RAPT_OK);
    o.coverage_penalty = 0.8;
    assert_int_equal(rapt_translate(m, lines, LINES, &o, out, NULL), RAPT_OK);
    o.n_best = 1;
    o.alignment = false;
    o.batch = 1;
    assert_int_equal(rapt_translate(m, lines, LINES, &o, best, NULL), RAPT_OK);
    for (size_t i = 0; i < LINES; i++) {
        assert_int_equal(out[i].count, plain[i].count);
        for (size_t n = 0; n < out[i].count; n++) {
            const rapt_hypothesis *h = &out[i].hypotheses[n], *was = with_tokens(&plain[i], h);
            assert_non_null(was);
            assert_true(fabs(h->score - (was->score + 0.8 * coverage(m, &out[i], h))) < 1e-5);
            assert_memory_equal(&h->log_prob, &was->log_prob, sizeof h->log_prob);
            assert_true(n == 0 || h->score <= out[i].hypotheses[n - 1].score);
            moved += was != &plain[i].hypotheses[n];
        }
        if (out[i].count)
            assert_memory_equal(&best[i].hypotheses[0].score, &out[i].hypotheses[0].score, sizeof(double));
    }
    assert_true(moved > 2);
    rapt_translations_free(plain, LINES);
    rapt_translations_free(out, LINES);
    rapt_translations_free(best, LINES);
    rapt_model_free(m);
}

/* A policy that stops early has as many hypotheses as beams; a patience says how many there are in its place. */
static void a_patience_replaces_early_stopping(void **state)
{
    (void)state;
    static const rapt_early_stopping stops[] = {RAPT_EARLY_STOPPING_NO, RAPT_EARLY_STOPPING_YES, RAPT_EARLY_STOPPING_NEVER};
    rapt_model *m = case_translation_model(12, 1);
    for (double patience = 0.4; patience < 3; patience *= 1.5) {
        double first[3];
        for (size_t k = 0; k < 3; k++) {
            m->search = (rapt_search_policy){.given = true, .beams = BEAM, .length_penalty = 0, .repetition_penalty = 1,
                                             .early_stopping = stops[k]};
            rapt_translation out[LINES];
            const rapt_translate_options o = TRANSLATE(.patience = patience, .n_best = BEAM);
            assert_int_equal(rapt_translate(m, lines, LINES, &o, out, NULL), RAPT_OK);
            assert_true(out[0].count >= (patience < 1 ? (size_t)floor(BEAM * patience + 0.5) : BEAM));
            first[k] = out[0].hypotheses[0].score;
            rapt_translations_free(out, LINES);
        }
        assert_true(first[0] == first[1] && first[1] == first[2]);
    }
    rapt_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scores_have_the_penalty),
                                       cmocka_unit_test(a_patience_replaces_early_stopping)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
