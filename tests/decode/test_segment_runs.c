/* tests/decode/test_segment_runs.c: segments that begin at different steps, of different options, and share their steps: each
 * item gets the translation that it gets alone, bit for bit, whichever others are there, are cancelled, or fail.
 * labels: raced-late sanitized-late */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/translate.h"
#include "decode/translate_case.h"
#include "rapt/glossary.h"
#include "options.h"
#include "texts.h"

#define LINES 10
#define TEXTS 5
#define MOST 20 /* segments in progress before others begin */

static const char *const LINE[LINES] = {
    "w1 w2 w3", "zyzzyva", "w4", "w1 w2 w3 w4 w5 w6 w7", "w1 w2 w3 w4 w5 w6 w7 w8 w9" /* two segments */,
    "w9 w8 w7 w6 w5 w4", "w11 w12", "w13 w1 w13", "w2 w2 w2 w2", "w20 w21 w22 w23 w24",
};

static const rapt_translate_options OPTIONS[TEXTS] = {
    {TRANSLATE_DEFAULTS},
    {TRANSLATE_DEFAULTS, .beam = 4, .n_best = 3, .length_penalty = 0.6},
    {TRANSLATE_DEFAULTS, .beam = 1, .tokens = true, .alignment = true},
    {TRANSLATE_DEFAULTS, .beam = 2, .prefix = "w5 w6", .max_ratio = 1},
    {TRANSLATE_DEFAULTS, .beam = 7, .n_best = 7, .no_repeat = 1},
};

typedef struct running_text {
    translate_text text;
    size_t next;                /* item to begin */
    size_t questions[LINES], after[LINES];
    rapt_translation want[LINES];
    rapt_text lines[LINES];
} running_text;

static bool stop(void *context, size_t line)
{
    running_text *x = context;
    return x->questions[line]++ >= x->after[line];
}

static void begin_text(running_text *x, const rapt_translator *t, const rapt_translate_options *o, uint64_t key)
{
    rapt_error err = {0};
    const rapt_translator_request r = {.options = o};
    x->text = (translate_text){.lines = texts_fill(x->lines, LINE, LINES), .count = LINES, .stop = stop, .context = x};
    x->next = 0;
    for (size_t i = 0; i < LINES; i++) {
        x->questions[i] = 0;
        x->after[i] = rng_below(key, i, 2) ? SIZE_MAX : rng_below(key, LINES + i, 6);
    }
    if (translate_text_encode(&x->text, &t->setup, &r, &t->prefix, &err))
        fail_msg("%s", err.message);
}

static void assert_same(const rapt_translation *a, const rapt_translation *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const rapt_hypothesis *x = &a->hypotheses[i], *y = &b->hypotheses[i];
        assert_string_equal(x->text, y->text);
        assert_memory_equal(&x->score, &y->score, sizeof x->score);
        assert_int_equal(x->token_count, y->token_count);
        if (x->token_count > 0)
            assert_memory_equal(x->log_probs, y->log_probs, x->token_count * sizeof *x->log_probs);
        assert_int_equal(x->alignment.targets, y->alignment.targets);
        for (size_t j = 0; j < x->alignment.targets; j++)
            assert_memory_equal(x->alignment.rows[j].weights, y->alignment.rows[j].weights,
                                (x->alignment.rows[j].count + 1) * sizeof(rapt_real));
    }
}

static size_t end_text(running_text *x)
{
    rapt_translation out[LINES];
    rapt_error err = {0};
    size_t cancelled = 0;
    assert_int_equal(x->text.left, 0);
    if (translate_text_write(&x->text, out, &err))
        fail_msg("%s", err.message);
    for (size_t i = 0; i < LINES; i++) {
        assert_int_equal(out[i].cancelled, x->questions[i] > x->after[i]);
        cancelled += out[i].cancelled;
        if (!out[i].cancelled)
            assert_same(&out[i], &x->want[i]);
    }
    rapt_translations_free(out, LINES);
    translate_text_free(&x->text);
    return cancelled;
}

/* Begins some items of a text. */
static void begin_some(segment_runs *r, rapt_tape *t, running_text *x, size_t n)
{
    translate_item *items[4 * LINES];
    for (size_t i = 0; i < n; i++)
        items[i] = &x->text.items[x->next++];
    segment_runs_begin(r, t, items, n);
}

/* All texts, their items in groups of random sizes that begin at random steps, on random tapes. */
static size_t run_mixed(rapt_translator *t, running_text *texts, uint64_t seed)
{
    segment_runs runs = {.setup = &t->setup};
    size_t left = 0, cancelled = 0;
    for (size_t i = 0; i < TEXTS; i++) {
        begin_text(&texts[i], t, &OPTIONS[i], rng_mix(seed, i));
        left += texts[i].text.source.count;
    }
    for (uint64_t step = 0; left > 0; step++) {
        rapt_tape *tape = t->tapes.list[rng_below(seed, 3 * step, (uint64_t)t->tapes.count)];
        running_text *x = &texts[rng_below(seed, 3 * step + 1, TEXTS)];
        size_t waiting = x->text.source.count - x->next, n = 1 + rng_below(seed, 3 * step + 2, 4);
        if (waiting > 0 && runs.count < MOST)
            begin_some(&runs, tape, x, n < waiting ? n : waiting);
        if (runs.count > 0)
            segment_runs_step(&runs, tape);
        left = 0;
        for (size_t i = 0; i < TEXTS; i++)
            left += texts[i].text.left;
    }
    for (size_t i = 0; i < TEXTS; i++)
        cancelled += end_text(&texts[i]);
    segment_runs_free(&runs);
    return cancelled;
}

static void check_mixed(rapt_model *m, rapt_type kv_cache, size_t runs)
{
    static running_text texts[TEXTS];
    size_t cancelled = 0;
    for (size_t i = 0; i < TEXTS; i++) {
        rapt_translate_options o = OPTIONS[i];
        o.compute.kv_cache = kv_cache;
        assert_int_equal(rapt_translate(m, LINE, LINES, &o, texts[i].want, NULL), RAPT_OK);
    }
    for (int threads = 1; threads <= 3; threads++) {
        const rapt_translate_options o = {TRANSLATE_DEFAULTS, .compute = {.threads = threads, .kv_cache = kv_cache}};
        rapt_translator *t = rapt_translator_new(m, &o, NULL);
        assert_non_null(t);
        for (uint64_t seed = 0; seed < runs; seed++)
            cancelled += run_mixed(t, texts, seed + 1);
        rapt_translator_free(t);
    }
    if (cancelled < runs * TEXTS * LINES / 5) /* of 3 * runs * TEXTS * LINES */
        fail_msg("only %zu lines were cancelled", cancelled);
    for (size_t i = 0; i < TEXTS; i++)
        rapt_translations_free(texts[i].want, LINES);
}

static void segments_share_steps(void **state)
{
    (void)state;
    rapt_model *m = case_translation_model(8, 2);
    check_mixed(m, RAPT_TYPE_FP32, 20);
    check_mixed(m, RAPT_TYPE_Q8_0, 10);
    m->search = (rapt_search_policy){.given = true, .beams = 3, .length_penalty = 0.7, .repetition_penalty = 1.1};
    check_mixed(m, RAPT_TYPE_FP32, 20);
    rapt_model_free(m);
}

/* Every kind of positions, norm and attention. */
static void networks_of_all_kinds(void **state)
{
    (void)state;
    rapt_model *m = case_translation_model(8, 2);
    for (size_t i = 0; i < MODEL_VARIANTS; i++) {
        rapt_error err = {0};
        const rapt_transformer_config config = model_variant(i);
        rapt_transformer_free(m->translation.net);
        m->translation.net = rapt_transformer_new(&config, 3, &err);
        if (!m->translation.net)
            fail_msg("%s", err.message);
        m->params = m->translation.net->params;
        check_mixed(m, RAPT_TYPE_FP32, 4);
    }
    rapt_model_free(m);
}

/* ---- failures ----------------------------------------------------------------------------------------------------- */

/* A line with w40 gives numbers that are not finite. */
static void failures_are_an_items_own(void **state)
{
    static const char *const bad[] = {"w1 w2", "w3 w40", "w4 w5 w40", "w6"}, *const good[] = {"w1 w2", "w3", "w4 w5", "w6"};
    (void)state;
    rapt_model *m = case_translation_model(8, 2);
    size_t count;
    int32_t *ids;
    assert_int_equal(rapt_tokenizer_encode(m->translation.source, "w40", &ids, &count, NULL), RAPT_OK);
    const rapt_transformer *net = m->translation.net;
    net->encoder.input.embedding.weight->value.data[(size_t)ids[0] * net->config.block.d_model] = NAN;
    free(ids);
    rapt_translator *t = rapt_translator_new(m, &TRANSLATE(.compute.threads = 1), NULL);
    for (size_t beam = 1; beam <= 3; beam += 2) {
        const rapt_translate_options o = {TRANSLATE_DEFAULTS, .beam = beam};
        const rapt_translator_request request = {.options = &o};
        rapt_translation want[4], out[4];
        rapt_error err = {0};
        translate_item *items[8];
        translate_text x = {.lines = TEXTS_OF(bad, 4), .count = 4}, y = {.lines = TEXTS_OF(good, 4), .count = 4};
        segment_runs *r = &t->lane.workers[0].runs;
        assert_int_equal(rapt_translate(m, good, 4, &o, want, NULL), RAPT_OK);
        assert_int_equal(translate_text_encode(&x, &t->setup, &request, &t->prefix, NULL), RAPT_OK);
        assert_int_equal(translate_text_encode(&y, &t->setup, &request, &t->prefix, NULL), RAPT_OK);
        for (size_t i = 0; i < 8; i++)
            items[i] = i % 2 ? &x.items[i / 2] : &y.items[i / 2];
        segment_runs_begin(r, t->tapes.list[0], items, 8);
        while (r->count > 0)
            segment_runs_step(r, t->tapes.list[0]);
        assert_int_equal(x.left, 0);
        assert_int_equal(y.left, 0);
        assert_int_equal(translate_text_write(&x, out, &err), RAPT_ERR_NOT_FINITE);
        assert_string_equal(err.message, "\"w3 w40\": the model computes what is not a finite number");
        assert_int_equal(translate_text_write(&y, out, NULL), RAPT_OK);
        for (size_t i = 0; i < 4; i++)
            assert_same(&out[i], &want[i]);
        rapt_translations_free(want, 4);
        rapt_translations_free(out, 4);
        translate_text_free(&x);
        translate_text_free(&y);
    }
    rapt_translator_free(t);
    rapt_model_free(m);
}

/* Admission counts a text by its widest beam, which terms make wider than the options do: a place for each of their tokens. */
static void beams_of_terms_count(void **state)
{
    static const struct { const char *line, *terms; size_t beam; } cases[] = {
        {"w1 w2", NULL, 3}, {"w1 w2", "w9\tw2\n", 3}, {"w1 w2", "w1\tw2\n", 8},
        {"w1 w2", "w1\tw2 w3 w4 w5 w6\nw2\tw7 w8 w9 w10 w11\n", 11}};
    (void)state;
    rapt_model *m = case_translation_model(8, 2);
    rapt_translator *t = rapt_translator_new(m, &TRANSLATE(.compute.threads = 1), NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_glossary *g = cases[i].terms ? rapt_glossary_parse("g", rapt_text_of(cases[i].terms), NULL) : NULL;
        const rapt_translate_options o = {TRANSLATE_DEFAULTS, .beam = 3, .glossary = g};
        const rapt_translator_request request = {.options = &o};
        translate_text x = {.lines = TEXTS_OF(&cases[i].line, 1), .count = 1};
        assert_int_equal(translate_text_encode(&x, &t->setup, &request, &t->prefix, NULL), RAPT_OK);
        assert_int_equal(x.beam, cases[i].beam);
        translate_text_free(&x);
        rapt_glossary_free(g);
    }
    rapt_translator_free(t);
    rapt_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(segments_share_steps), cmocka_unit_test(networks_of_all_kinds),
                                       cmocka_unit_test(failures_are_an_items_own), cmocka_unit_test(beams_of_terms_count)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
