/* tests/decode/test_lookup.c: prompt lookup. Proposals equal what a search finds that compares whole pieces of the text; they
 * become wider and rarer by what became of them; and no text, log-probability, callback or sample depends on them: for models, KV
 * caches, ways to choose and threads, beyond the context, in runs that continue, stop or are taken back.
 * labels: threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/generate_case.h"
#include "decode/lookup.h"
#include "options.h"
#include "tape/tape_core.h"

enum { MOST = 64, TOKENS = 40 }; /* TOKENS: the window of LM_CONTEXT moves several times */

/* ---- proposals ----------------------------------------------------------------------------------------------------- */

static text_tokens random_text(uint64_t key, size_t count, uint64_t symbols)
{
    text_tokens text = {0};
    for (size_t i = 0; i < count; i++) {
        const int32_t id = (int32_t)rng_below(key, i, symbols);
        assert_int_equal(text_tokens_put(&text, i, &id, 1, NULL), RAPT_OK);
    }
    return text;
}

/* Where the latest earlier occurrence of the last n tokens ends, for the largest n of 16 .. 3 that has one; 0: there is none. */
static size_t found_by_comparing(const int32_t *ids, size_t count)
{
    for (size_t n = 16; n >= 3; n--)
        for (size_t end = count - 1; count > n && end >= n; end--)
            if (memcmp(ids + end - n, ids + count - n, n * sizeof *ids) == 0)
                return end;
    return 0;
}

static void proposals_follow_the_longest_match(void **state)
{
    size_t found = 0, none = 0;
    (void)state;
    for (uint64_t key = 0; key < 3000; key++) {
        text_tokens text = random_text(key, 1 + rng_below(7, key, 90), 2 + rng_below(8, key, 5));
        const size_t count = text.count, seen = 1 + rng_below(9, key, count), room = rng_below(10, key, 8);
        lookup l;
        lookup_begin(&l, MOST);
        const size_t got = lookup_propose(&l, &text, seen, room);
        const size_t from = found_by_comparing(text.ids + count - seen, seen);
        assert_int_equal(text.count, count);
        assert_int_equal(got, from == 0 ? 0 : room < 3 ? room : 3); /* a run's first proposal is narrow */
        for (size_t i = 0; i < got; i++)
            assert_int_equal(text.ids[count + i], text.ids[count - seen + from + i]);
        found += from > 0;
        none += from == 0;
        free(text.ids);
    }
    assert_true(found > 500 && none > 500);
}

/* Tokens of a proposal that come true, and then one that does not. Returns how many were proposed. */
static size_t propose_and_judge(lookup *l, text_tokens *text, size_t right)
{
    const size_t proposed = lookup_propose(l, text, text->count, SIZE_MAX);
    for (size_t i = 0; i < proposed; i++) {
        const int32_t next = text->ids[text->count];
        const bool holds = i < right;
        assert_int_equal(lookup_judge(l, text, holds ? next : 1 - next), holds);
        if (!holds)
            break;
        text->count++; /* put */
    }
    if (right >= proposed && proposed > 0)
        assert_false(lookup_judge(l, text, 0)); /* beyond the last one */
    assert_int_equal(l->proposed, 0);
    assert_false(lookup_judge(l, text, 0)); /* there is no proposal */
    return proposed;
}

static void good_proposals_widen_bad_ones_pause(void **state)
{
    text_tokens text = random_text(1, 1, 1); /* zeros */
    lookup l;
    (void)state;
    for (size_t i = 1; i < 20; i++)
        assert_int_equal(text_tokens_put(&text, i, &(int32_t){0}, 1, NULL), RAPT_OK);
    lookup_begin(&l, 16);
    for (size_t width = 3; width < 24; width *= 2)
        assert_int_equal(propose_and_judge(&l, &text, 99), width < 16 ? width : 16);
    assert_int_equal(propose_and_judge(&l, &text, 8), 16); /* half of it is good enough */
    assert_int_equal(propose_and_judge(&l, &text, 1), 9);
    for (size_t pause = 4, width = 2; pause <= 128; pause *= 2, width = 1) {
        for (size_t i = 0; i < (pause < 64 ? pause : 64); i++)
            assert_int_equal(lookup_propose(&l, &text, text.count, SIZE_MAX), 0);
        assert_int_equal(propose_and_judge(&l, &text, 0), width);
    }
    lookup_begin(&l, 0);
    assert_int_equal(lookup_propose(&l, &text, text.count, SIZE_MAX), 0);
    free(text.ids);
}

/* ---- texts --------------------------------------------------------------------------------------------------------- */

static rapt_model new_model(size_t variant, size_t context)
{
    rapt_lm_config c = lm_variant(variant);
    c.context = context;
    c.embedding_std = c.tied ? 0.15 : 2;
    return case_model(lm_model(&c), case_characters());
}

static void free_model(rapt_model *m)
{
    rapt_lm_free(m->language.net);
    rapt_tokenizer_free(m->language.tokenizer);
}

/* What a run shows, in the order in which it shows it. */
typedef struct shown {
    char text[MOST_TEXT];
    size_t size, pieces, asked, steps, most; /* most: asked so often, it stops; 0: never */
    uint64_t sums;                          /* of the ids, log-probabilities and likeliest tokens */
    bool loops;                             /* a callback of logits wants four tokens in turns, */
    size_t breaks;                          /* until this many steps are made, the last of which brings another token */
} shown;

static rapt_code show_text(void *context, const char *text, size_t size, rapt_error *err)
{
    shown *s = context;
    (void)err;
    memcpy(s->text + s->size, text, size);
    s->size += size;
    s->text[s->size++] = '|';
    s->pieces++;
    return RAPT_OK;
}

static bool show_stop(void *context)
{
    shown *s = context;
    return ++s->asked == s->most;
}

static rapt_code show_logits(void *context, size_t step, rapt_real *logits, size_t vocab, rapt_error *err)
{
    shown *s = context;
    (void)vocab;
    (void)err;
    assert_int_equal(step, s->steps++);
    logits[step + 1 == s->breaks ? 9 : step % 4] += s->loops ? 100 : (rapt_real)0.5;
    return RAPT_OK;
}

static void show_bytes(shown *s, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        s->sums = (s->sums ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
}

static rapt_code show_run(rapt_generator *g, uint64_t sample, shown *s)
{
    rapt_generated_token token;
    rapt_generated result;
    rapt_error err = {0};
    assert_int_equal(rapt_generator_start(g, sample, &err), RAPT_OK);
    while (rapt_generator_next(g, &token, &err)) {
        show_bytes(s, &token.id, sizeof token.id);
        show_bytes(s, &token.log_prob, sizeof token.log_prob);
        show_bytes(s, token.ids, token.count * sizeof *token.ids);
        show_bytes(s, token.log_probs, token.count * sizeof *token.log_probs);
        show_bytes(s, &(size_t){rapt_generator_tokens(g)}, sizeof(size_t));
    }
    const rapt_code code = rapt_generator_finish(g, &result, &err);
    show_bytes(s, &result.finish, sizeof result.finish);
    show_bytes(s, &result.token_count, sizeof result.token_count);
    show_bytes(s, result.tokens, result.token_count * sizeof *result.tokens);
    rapt_generated_free(&result);
    return code;
}

/* Three runs: one continues a prompt, one its text with an addition, and one a text that is taken back. */
static shown show(const rapt_model *m, rapt_tape *t, rapt_generate_options o, const shown *settings)
{
    static const char prompt[] = "abcdeabcdeabcd";
    rapt_error err = {0};
    shown s = *settings;
    o.on_text = show_text;
    o.stop = show_stop;
    o.context = &s;
    o.top = 3;
    rapt_generator *g = t ? generator_on_tape(m, t, &o, &err) : rapt_generator_new(m, &o, &err);
    if (!g)
        fail_msg("%s", err.message);
    assert_int_equal(rapt_generator_begin(g, prompt, strlen(prompt), &err), RAPT_OK);
    for (uint64_t run = 0; run < 3; run++) {
        const rapt_code code = show_run(g, run, &s);
        assert_int_equal(code, s.most && s.asked == s.most ? RAPT_ERR_INTERRUPTED : RAPT_OK);
        s.steps = s.asked = 0;
        if (run == 0) /* where the run has ended among proposals, none of them is part of the text */
            assert_int_equal(rapt_generator_append(g, "hg", 2, &err), RAPT_OK);
        if (run == 1)
            assert_int_equal(rapt_generator_rewind(g, rapt_generator_tokens(g) - 3, &err), RAPT_OK);
    }
    rapt_generator_free(g);
    return s;
}

static void assert_shows_the_same(const shown *want, const shown *got)
{
    assert_int_equal(got->size, want->size);
    assert_memory_equal(got->text, want->text, want->size);
    assert_int_equal(got->pieces, want->pieces);
    assert_int_equal(got->asked, want->asked);
    assert_true(got->sums == want->sums);
}

static rapt_generate_options policy(size_t i)
{
    static const rapt_logit_bias biases[] = {{3, 4}, {4, 4}, {5, (rapt_real)-INFINITY}};
    static const char *const stops[] = {"ab", "e"}, *const other[] = {"j"};
    rapt_generate_options o = GENERATE(.max_tokens = TOKENS - i % 7, .compute.threads = 1 + i % 3);
    o.sample.greedy = i % 2 == 0;
    o.sample.temperature = i % 4 == 1 ? 0.1 : 1;
    o.sample.top_k = i % 8 == 3 ? 2 : 0;
    o.sample.repetition_penalty = i % 8 == 4 ? 1.3 : 1;
    o.sample.frequency_penalty = i % 8 == 5 ? 0.5 : 0;
    o.sample.biases = biases;
    o.sample.bias_count = i % 8 == 6 ? 3 : 0;
    o.stops = stops;
    o.stop_count = i % 8 == 7 || i % 8 == 2 ? 2 : 0;
    if (i % 3 == 1) { /* the token 9 comes where others were proposed, and ends the run */
        o.on_logits = show_logits;
        o.stops = other;
        o.stop_count = 1;
    }
    o.compute.kv_cache = (rapt_type[]){RAPT_TYPE_FP32, RAPT_TYPE_Q8_0, RAPT_TYPE_BF16}[i / 2 % 3];
    return o;
}

static void nothing_shown_depends_on_it(void **state)
{
    static const size_t lookups[] = {16, 1, 64, 3};
    (void)state;
    for (size_t i = 0; i < 32; i++) {
        rapt_model m = new_model(i * 7 % LM_VARIANTS, i % 4 == 3 ? 60 : LM_CONTEXT);
        rapt_generate_options o = policy(i);
        const shown settings = {.loops = i % 2, .breaks = 17 + i % 8, .most = i % 5 == 4 ? 9 : 0};
        o.lookup = 0;
        const shown want = show(&m, NULL, o, &settings);
        o.lookup = lookups[i % 4];
        o.compute.threads = 1 + (i + 1) % 3;
        const shown got = show(&m, NULL, o, &settings);
        assert_shows_the_same(&want, &got);
        free_model(&m);
    }
}

/* A text that repeats itself takes few passes, one without repeats hardly more than its tokens. */
static void repeats_take_fewer_passes(void **state)
{
    uint64_t passes[2][2];
    (void)state;
    for (size_t loops = 0; loops < 2; loops++)
        for (size_t on = 0; on < 2; on++) {
            rapt_model m = new_model(0, 256);
            rapt_tape *t = model_tape(NULL, 1);
            rapt_generate_options o = GENERATE(.max_tokens = 60, .sample = {SAMPLE_DEFAULTS, .temperature = 1, .top_k = 0});
            o.on_logits = loops ? show_logits : NULL;
            o.lookup = on ? 16 : 0;
            const uint64_t before = t->passes;
            show(&m, t, o, &(shown){.loops = true});
            passes[loops][on] = t->passes - before;
            rapt_tape_free(t);
            free_model(&m);
        }
    assert_true(passes[0][0] == 180 && passes[1][0] == 180);
    assert_true(passes[0][1] <= 180 && passes[1][1] < 45);
}

static void too_many_tokens(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_model m = new_model(3, LM_CONTEXT);
    assert_null(rapt_generator_new(&m, &GENERATE(.lookup = 65), &err));
    assert_int_equal(err.code, RAPT_ERR_VALUE);
    assert_string_equal(err.message, "a lookup of 65 tokens: it is 0 to 64");
    free_model(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(proposals_follow_the_longest_match),
                                       cmocka_unit_test(good_proposals_widen_bad_ones_pause),
                                       cmocka_unit_test(nothing_shown_depends_on_it),
                                       cmocka_unit_test(repeats_take_fewer_passes), cmocka_unit_test(too_many_tokens)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
