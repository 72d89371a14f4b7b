/* tests/decode/test_translate.c: rapt_translate with a small model of random weights: lines that are empty, unknown, as long as
 * the model takes or longer; beams wider than the vocabulary; limits, prefixes, alignments; the same whatever the batch and
 * the threads.
 * What a search finds is in test_search.c.
 * labels: threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/align.h"
#include "decode/translate_case.h"
#include "options.h"
#include "texts.h"

#define MAX_LEN 8
#define LINES 9

static const char *const LINE[LINES] = {
    "w1 w2 w3", "", "zyzzyva", "w4", "w1 w2 w3 w4 w5 w6 w7", /* MAX_LEN tokens, <eos> included */
    "w1 w2 w3 w4 w5 w6 w7 w8 w9", /* two pieces */ "   ", "zyzzyva zyzzyva", "w9 w8 w7 w6 w5 w4",
};

static rapt_model *new_model(rapt_real eos)
{
    return case_translation_model(MAX_LEN, eos);
}

static void translate(rapt_model *m, const char *const *lines, size_t count, rapt_translate_options o, rapt_translation *out)
{
    rapt_error err = {0};
    if (rapt_translate(m, lines, count, &o, out, &err))
        fail_msg("%s", err.message);
}

static void assert_same_alignment(const rapt_alignment *a, const rapt_alignment *b)
{
    assert_int_equal(a->targets, b->targets);
    assert_int_equal(a->sources, b->sources);
    for (size_t i = 0; i < a->targets; i++) {
        assert_int_equal(a->rows[i].first, b->rows[i].first);
        assert_int_equal(a->rows[i].count, b->rows[i].count);
        model_same("alignment", a->rows[i].weights, b->rows[i].weights, a->rows[i].count + 1);
    }
}

static void assert_same(const rapt_translation *a, const rapt_translation *b)
{
    assert_int_equal(a->cut, b->cut);
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_string_equal(a->hypotheses[i].text, b->hypotheses[i].text);
        assert_memory_equal(&a->hypotheses[i].score, &b->hypotheses[i].score, sizeof(double));
        assert_same_alignment(&a->hypotheses[i].alignment, &b->hypotheses[i].alignment);
    }
}

/* All together, one by one by one thread or several, and in other batches with other threads. */
static void check_options(rapt_model *m, rapt_translate_options o)
{
    rapt_translation all[LINES], some[LINES];
    o.compute.threads = 1;
    translate(m, LINE, LINES, o, all);
    for (size_t i = 0; i < LINES; i++) {
        bool empty = LINE[i][strspn(LINE[i], " ")] == '\0';
        assert_int_equal(all[i].count, empty || o.n_best == 0 ? 1 : o.n_best);
        assert_false(all[i].cut);
        assert_true(!empty || *all[i].hypotheses[0].text == '\0');
        o.compute.threads = 1 + (int)(i % 3);
        translate(m, &LINE[i], 1, o, some);
        assert_same(&all[i], some);
        rapt_translations_free(some, 1);
    }
    for (size_t batch = 1; batch < 5; batch += 3) {
        o.batch = batch;
        o.compute.threads = 3;
        translate(m, LINE, LINES, o, some);
        for (size_t i = 0; i < LINES; i++)
            assert_same(&all[i], &some[i]);
        rapt_translations_free(some, LINES);
    }
    rapt_translations_free(all, LINES);
}

static void lines_are_alone(void **state)
{
    (void)state;
    rapt_model *m = new_model(2);
    check_options(m, TRANSLATE());
    check_options(m, TRANSLATE(.beam = 1, .length_penalty = 1));
    check_options(m, TRANSLATE(.beam = 4, .n_best = 3, .length_penalty = 0.6));
    check_options(m, TRANSLATE(.beam = 2 * MODEL_VOCAB, .n_best = MODEL_VOCAB + 1));
    check_options(m, TRANSLATE(.beam = 3, .n_best = 2, .no_repeat = 2, .max_ratio = 3, .prefix = "w3 w3"));
    check_options(m, TRANSLATE(.beam = 3, .n_best = 3, .alignment = true));
    check_options(m, TRANSLATE(.no_repeat = 1, .max_ratio = 0.5, .prefix = "w9"));
    check_options(m, TRANSLATE(.compute.kv_cache = RAPT_TYPE_BF16));
    check_options(m, TRANSLATE(.beam = 4, .n_best = 3, .compute.kv_cache = RAPT_TYPE_Q8_0));
    rapt_model_free(m);
}

/* With <eos> certain, each beam ends with its first token. */
static void all_end_at_once(void **state)
{
    (void)state;
    rapt_model *m = new_model(60);
    for (size_t beam = 1; beam <= 4; beam += 3) {
        rapt_translation out[LINES];
        check_options(m, TRANSLATE(.beam = beam, .n_best = beam));
        translate(m, LINE, LINES, TRANSLATE(.beam = beam), out);
        for (size_t i = 0; i < LINES; i++)
            assert_string_equal(out[i].hypotheses[0].text, "");
        rapt_translations_free(out, LINES);
    }
    rapt_model_free(m);
}

static size_t count_words(const char *text)
{
    size_t n = 0;
    for (const char *p = text; *p; p++)
        n += *p != ' ' && (p == text || p[-1] == ' ');
    return n;
}

/* Without <eos>, a translation is as long as it may be. */
static void assert_length(rapt_model *m, const char *line, rapt_translate_options o, size_t length)
{
    for (o.beam = 1; o.beam <= 3; o.beam += 2) {
        rapt_translation out;
        translate(m, &line, 1, o, &out);
        assert_int_equal(count_words(out.hypotheses[0].text), length);
        rapt_translations_free(&out, 1);
    }
}

static void lengths_have_limits(void **state)
{
    (void)state;
    rapt_model *m = new_model(-60);
    const char *five = "w1 w2 w3 w4"; /* tokens, with <eos> */
    rapt_real *bias = m->translation.net->decoder.output.bias->value.data;
    bias[RAPT_PAD] = bias[RAPT_BOS] = -60;
    assert_length(m, five, TRANSLATE(), 2 * 5 + 10);
    assert_length(m, five, TRANSLATE(.max_ratio = 3.5), 27); /* 17.5 + 10 */
    assert_length(m, five, TRANSLATE(.max_ratio = 0.1), 10);
    assert_length(m, five, TRANSLATE(.max_ratio = 1000), 80); /* the model's positions */
    assert_length(m, five, TRANSLATE(.max_ratio = INFINITY), 80);
    assert_length(m, five, TRANSLATE(.max_ratio = 0.1, .prefix = "w1 w1 w1 w1 w1 w1 w1 w1 w1 w1 w1"), 11 + 10);
    m->translation.pad_to_max = true;
    assert_length(m, five, TRANSLATE(), MAX_LEN);
    assert_length(m, five, TRANSLATE(.max_ratio = 1000), MAX_LEN);
    rapt_model_free(m);
}

/* In a line of segments, the first has the prefix. Here <eos> follows immediately. */
static void prefixes_begin_lines(void **state)
{
    (void)state;
    rapt_model *m = new_model(60);
    for (size_t beam = 1; beam <= 3; beam += 2) {
        rapt_translation out[LINES];
        translate(m, LINE, LINES, TRANSLATE(.beam = beam, .prefix = "w5 w6"), out);
        assert_int_equal(count_words(out[0].hypotheses[0].text), 2);
        assert_int_equal(count_words(out[5].hypotheses[0].text), 2);
        rapt_translations_free(out, LINES);
    }
    rapt_model_free(m);
}

/* A prefix of its own gives a line what that prefix gives it alone, whatever the others have. */
static void prefixes_of_lines(void **state)
{
    static const char *const prefixes[] = {"w5 w6", NULL, "", "w1", "w2 w3 w4", "w7", "w9"};
    (void)state;
    rapt_model *m = new_model(2);
    for (size_t beam = 1; beam <= 3; beam += 2) {
        rapt_translation all[LINES], one;
        rapt_error err = {0};
        const char *given[LINES];
        rapt_translate_options o = {TRANSLATE_DEFAULTS, .beam = beam, .n_best = beam > 1 ? 2 : 1, .batch = 2,
                                    .compute.threads = 2, .alignment = true,
                                    .prefix = "w8"};
        rapt_translator *t = rapt_translator_new(m, &o, &err);
        assert_non_null(t);
        for (size_t i = 0; i < LINES; i++)
            given[i] = prefixes[i % 7];
        const rapt_translator_request r = {.prefixes = TEXTS_OF(given, LINES)};
        if (rapt_translator_run(t, &r, TEXTS_OF(LINE, LINES), LINES, all, &err))
            fail_msg("%s", err.message);
        for (size_t i = 0; i < LINES; i++) {
            o.prefix = given[i];
            translate(m, &LINE[i], 1, o, &one);
            assert_same(&all[i], &one);
            rapt_translations_free(&one, 1);
        }
        rapt_translations_free(all, LINES);
        given[3] = "w1 zyzzyva";
        const rapt_translator_request refused = {.prefixes = TEXTS_OF(given, LINES)};
        assert_int_equal(rapt_translator_run(t, &refused, TEXTS_OF(LINE, LINES), LINES, all, &err), RAPT_ERR_VALUE);
        assert_string_equal(err.message, "the prefix has a word that the model doesn't know");
        assert_int_equal(rapt_translator_run(t, NULL, TEXTS_OF(LINE, 1), 1, all, &err), RAPT_OK);
        assert_memory_equal(all[0].hypotheses[0].text, "w8", 2);
        rapt_translations_free(all, 1);
        rapt_translator_free(t);
    }
    rapt_model_free(m);
}

/* There are as many tokens as are aligned; they are the line's and the text's, also in a line of segments. */
static void tokens_of_both_sides(void **state)
{
    (void)state;
    rapt_model *m = new_model(2);
    for (size_t beam = 1; beam <= 3; beam += 2) {
        rapt_translation out[LINES];
        translate(m, LINE, LINES, TRANSLATE(.beam = beam, .n_best = beam, .tokens = true, .alignment = true), out);
        for (size_t i = 0; i < LINES; i++) {
            int32_t *ids;
            size_t count;
            assert_int_equal(rapt_tokenizer_encode(m->translation.source, LINE[i], &ids, &count, NULL), RAPT_OK);
            assert_int_equal(out[i].source_count, count);
            assert_memory_equal(out[i].source, ids, count * sizeof *ids);
            free(ids);
            for (size_t j = 0; j < out[i].count; j++) {
                const rapt_hypothesis *h = &out[i].hypotheses[j];
                char *text = rapt_tokenizer_decode(m->translation.target, h->tokens, h->token_count, NULL);
                assert_string_equal(text, h->text);
                assert_int_equal(h->token_count, h->alignment.targets);
                assert_true(h->token_count == 0 || out[i].source_count == h->alignment.sources);
                free(text);
            }
        }
        rapt_translations_free(out, LINES);
    }
    rapt_model_free(m);
}

static void numbers_that_are_not_finite(void **state)
{
    (void)state;
    static const rapt_real bad[] = {NAN, INFINITY};
    for (size_t i = 0; i < 2; i++) {
        rapt_model *m = new_model(0);
        m->translation.net->decoder.output.bias->value.data[9] = bad[i];
        for (size_t beam = 1; beam <= 3; beam += 2) {
            rapt_translation out[LINES];
            rapt_error err = {0};
            assert_int_equal(rapt_translate(m, LINE, LINES, &TRANSLATE(.beam = beam), out, &err),
                             RAPT_ERR_NOT_FINITE);
        }
        rapt_model_free(m);
    }
}

static void prefixes_are_text(void **state)
{
    (void)state;
    rapt_model *m = new_model(0);
    const char *line = LINE[0];
    char longest[4 * 80] = "w1";
    rapt_translation out;
    rapt_error err = {0}, words = {0}, bytes = {0};
    translate(m, &line, 1, TRANSLATE(.beam = 3, .n_best = 3, .prefix = " w5   w6 "), &out);
    for (size_t i = 0; i < 3; i++)
        assert_memory_equal(out.hypotheses[i].text, "w5 w6 ", 6);
    rapt_translations_free(&out, 1);
    assert_int_equal(rapt_translate(m, &line, 1, &TRANSLATE(.prefix = "w1 zyzzyva"), &out, &words),
                     RAPT_ERR_VALUE);
    assert_int_equal(rapt_translate(m, &line, 1, &TRANSLATE(.prefix = "w1 \xFF"), &out, &bytes), RAPT_ERR_VALUE);
    assert_string_equal(bytes.message, "the prefix is not UTF-8: byte 4");
    for (int i = 0; i < 79; i++)
        strcat(longest, " w1");
    assert_int_equal(rapt_translate(m, &line, 1, &TRANSLATE(.prefix = longest), &out, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "a prefix of 80 tokens; the model has 80 positions");
    rapt_model_free(m);
}

/* Sizes that wrap, and numbers that have no meaning. */
static void options_have_ranges(void **state)
{
    (void)state;
    static const rapt_translate_options bad[] = {
        {TRANSLATE_DEFAULTS, .beam = 65537},
        {TRANSLATE_DEFAULTS, .beam = SIZE_MAX / 2 + 2},
        {TRANSLATE_DEFAULTS, .beam = 2, .length_penalty = NAN},
        {TRANSLATE_DEFAULTS, .beam = 2, .length_penalty = -INFINITY},
        {TRANSLATE_DEFAULTS, .length_penalty = 10.5},
        {TRANSLATE_DEFAULTS, .length_penalty = -10.5},
        {TRANSLATE_DEFAULTS, .beam = 2, .n_best = 5},
        {TRANSLATE_DEFAULTS, .n_best = 2},
        {TRANSLATE_DEFAULTS, .beam = 0},
        {TRANSLATE_DEFAULTS, .n_best = 0},
        {TRANSLATE_DEFAULTS, .batch = 0},
        {TRANSLATE_DEFAULTS, .max_ratio = 0},
        {0},
        {TRANSLATE_DEFAULTS, .max_ratio = -1},
        {TRANSLATE_DEFAULTS, .max_ratio = NAN},
        {TRANSLATE_DEFAULTS, .compute.threads = -3},
        {TRANSLATE_DEFAULTS, .compute.threads = 257},
        {TRANSLATE_DEFAULTS, .compute.type = RAPT_TYPE_Q4_0 + 1},
        {TRANSLATE_DEFAULTS, .split = RAPT_SENTENCE_SPLIT_ALL + 1},
        {TRANSLATE_DEFAULTS, .detokenize = RAPT_LANGUAGE_PORTUGUESE + 1},
        {TRANSLATE_DEFAULTS, .compute.kv_cache = RAPT_TYPE_Q8_0 + 1},
        {TRANSLATE_DEFAULTS, .min_length = 65537},
    };
    static const rapt_translate_options good[] = {
        {TRANSLATE_DEFAULTS, .beam = 1, .n_best = 1},
        {TRANSLATE_DEFAULTS, .length_penalty = 10},
        {TRANSLATE_DEFAULTS, .length_penalty = -10},
        {TRANSLATE_DEFAULTS, .max_ratio = 1e300},
        {TRANSLATE_DEFAULTS, .compute.threads = 1},
        {TRANSLATE_DEFAULTS, .no_repeat = SIZE_MAX},
        {TRANSLATE_DEFAULTS, .min_length = 65536},
    };
    rapt_model *m = new_model(2);
    rapt_translation one[LINES], all[LINES], out;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rapt_error err = {0};
        if (rapt_translate(m, LINE, 1, &bad[i], &out, &err) != RAPT_ERR_VALUE)
            fail_msg("option %zu is taken", i);
        assert_int_equal(err.code, RAPT_ERR_VALUE);
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        translate(m, LINE, 1, good[i], &out);
        rapt_translations_free(&out, 1);
    }
    translate(m, LINE, LINES, TRANSLATE(.batch = LINES), one);
    translate(m, LINE, LINES, TRANSLATE(.batch = SIZE_MAX), all);
    for (size_t i = 0; i < LINES; i++)
        assert_same(&one[i], &all[i]);
    rapt_translations_free(one, LINES);
    rapt_translations_free(all, LINES);
    rapt_model_free(m);
}

/* Keys and values are rounded, of both attentions: scores move a little, not much. */
static void storage_moves_scores(void **state)
{
    (void)state;
    rapt_model *m = new_model(2);
    rapt_translation exact, rounded;
    for (size_t i = 0; i < LINES; i++)
        for (rapt_type storage = RAPT_TYPE_BF16; storage <= RAPT_TYPE_Q8_0; storage++) {
            translate(m, &LINE[i], 1, TRANSLATE(), &exact);
            translate(m, &LINE[i], 1, TRANSLATE(.compute.kv_cache = storage), &rounded);
            const double moved = fabs(exact.hypotheses[0].score - rounded.hypotheses[0].score);
            const bool empty = LINE[i][strspn(LINE[i], " ")] == '\0';
            if (empty ? moved != 0 : !(moved > 0 && moved < 0.05))
                fail_msg("line %zu: the score moved by %g", i, moved);
            rapt_translations_free(&exact, 1);
            rapt_translations_free(&rounded, 1);
        }
    rapt_model_free(m);
}

/* Each translator packs weights for its own precision. */
static void precisions_take_turns(void **state)
{
    (void)state;
    rapt_model *m = new_model(2);
    rapt_translation once[LINES], other[LINES], again[LINES];
    translate(m, LINE, LINES, TRANSLATE(), once);
    translate(m, LINE, LINES, TRANSLATE(.compute.type = RAPT_TYPE_BF16), other);
    translate(m, LINE, LINES, TRANSLATE(), again);
    for (size_t i = 0; i < LINES; i++)
        assert_same(&once[i], &again[i]);
    assert_true(once[0].hypotheses[0].score != other[0].hypotheses[0].score);
    rapt_translations_free(once, LINES);
    rapt_translations_free(other, LINES);
    rapt_translations_free(again, LINES);
    rapt_model_free(m);
}

/* ---- alignments ------------------------------------------------------------------------------------------------ */

/* Queries that are zero look at all keys alike. */
static void equal_looks_are_equal_shares(void **state)
{
    (void)state;
    rapt_model *m = new_model(-60);
    rapt_linear *q = &m->translation.net->decoder.blocks[1].cross_attention.q;
    memset(q->weight->value.data, 0, rapt_tensor_size(&q->weight->value) * sizeof(rapt_real));
    memset(q->bias->value.data, 0, rapt_tensor_size(&q->bias->value) * sizeof(rapt_real));
    rapt_translation out[LINES];
    translate(m, LINE, LINES, TRANSLATE(.alignment = true, .max_ratio = 1), out);
    const rapt_alignment *a = &out[0].hypotheses[0].alignment; /* w1 w2 w3 <eos> */
    assert_int_equal(a->sources, 3);
    assert_int_equal(a->targets, 4 + 10);
    for (size_t i = 0; i < 4 * a->targets; i++)
        assert_true(fabs((double)a->weights[i] - 0.25) < 1e-6);
    assert_int_equal(out[1].hypotheses[0].alignment.targets, 0);
    assert_int_equal(out[4].hypotheses[0].alignment.sources, MAX_LEN - 1);
    rapt_translations_free(out, LINES);
    rapt_model_free(m);
}

/* Row i is of the moment in which token i was chosen: it depends on the tokens before, not on its own. */
static void rows_know_what_came_before(void **state)
{
    (void)state;
    rapt_model *m = new_model(0);
    rapt_tape *t = model_tape(NULL, 1);
    rapt_error err = {0};
    const int32_t source[] = {5, 6, 7, RAPT_EOS};
    int32_t target[] = {10, 11, 12};
    rapt_alignment a, b;
    assert_int_equal(align_tokens(t, m, source, 4, target, 3, &a, &err), RAPT_OK);
    target[1] = 20;
    assert_int_equal(align_tokens(t, m, source, 4, target, 3, &b, &err), RAPT_OK);
    model_same("rows before", a.weights, b.weights, 8);
    assert_memory_not_equal(a.weights + 8, b.weights + 8, 4 * sizeof *a.weights);
    for (size_t i = 0; i < 3; i++) {
        const rapt_real *row = a.weights + 4 * i;
        assert_true(fabs((double)(row[0] + row[1] + row[2] + row[3]) - 1) < 1e-5);
    }
    align_free(&a);
    align_free(&b);
    rapt_tape_free(t);
    rapt_model_free(m);
}

static void same_text_and_score(const rapt_translation *a, const char *text, double score)
{
    assert_string_equal(a->hypotheses[0].text, text);
    assert_true(a->hypotheses[0].score == score);
}

/* A line of two sentences that fits: the model's own way, and what an option makes of it. */
static void sentences_are_split_on_request(void **state)
{
    static const char *const line[] = {"w1 w2 . w3", "w1 w2 .", "w3"};
    (void)state;
    rapt_model *m = new_model(0);
    rapt_translation whole[3], out[1];
    char joined[1000];
    translate(m, line, 3, TRANSLATE(), whole);
    const rapt_hypothesis *h[3] = {whole[0].hypotheses, whole[1].hypotheses, whole[2].hypotheses};
    snprintf(joined, sizeof joined, "%s %s", h[1]->text, h[2]->text);
    assert_true(h[0]->score != h[1]->score + h[2]->score);
    for (rapt_sentence_split split = RAPT_SENTENCE_SPLIT_AS_TRAINED; split <= RAPT_SENTENCE_SPLIT_ALL; split++)
        for (int by_sentence = 0; by_sentence < 2; by_sentence++) {
            bool cut = split == RAPT_SENTENCE_SPLIT_ALL || (split == RAPT_SENTENCE_SPLIT_AS_TRAINED && by_sentence);
            m->translation.by_sentence = by_sentence;
            translate(m, line, 1, TRANSLATE(.split = split), out);
            same_text_and_score(out, cut ? joined : h[0]->text, cut ? h[1]->score + h[2]->score : h[0]->score);
            rapt_translations_free(out, 1);
        }
    rapt_translations_free(whole, 3);
    rapt_model_free(m);
}

/* Each piece attends to itself. */
static void pieces_are_counted_through(void **state)
{
    static const char *const line[] = {"w1 w2 w3 w4 w5 w6 w7 w8 w9", "w1 w2 w3 w4 w5 w6 w7", "w8 w9"};
    (void)state;
    rapt_model *m = new_model(-60);
    rapt_translation out[3];
    translate(m, line, 3, TRANSLATE(.alignment = true, .max_ratio = 0.1), out);
    const rapt_alignment *all = &out[0].hypotheses[0].alignment;
    assert_int_equal(all->sources, 9);
    assert_int_equal(all->targets, 20);
    for (size_t p = 0; p < 2; p++) {
        const rapt_alignment *a = &out[1 + p].hypotheses[0].alignment;
        assert_int_equal(a->sources, p ? 2 : 7);
        for (size_t i = 0; i < 10; i++) {
            const rapt_alignment_row *row = &all->rows[10 * p + i];
            assert_int_equal(row->first, p ? 7 : 0);
            assert_int_equal(row->count, a->sources);
            model_same("joined", a->rows[i].weights, row->weights, row->count + 1);
        }
    }
    rapt_translations_free(out, 3);
    rapt_model_free(m);
}

/* By definition: the vocabulary is w0, w1, ... In lines that are split, and with what is no word of one's own. */
static void unknown_words_are_told(void **state)
{
    static const char *const line[] = {"w1 w2", "zork w1 Zork zork w2 gnu", "", "w1 w2 w3 w4 w5 w6 w7 w8 w9 zork"};
    static const char *const words[] = {"zork", "Zork", "gnu"};
    (void)state;
    rapt_model *m = new_model(0);
    rapt_translation out[4];
    translate(m, line, 4, TRANSLATE(), out);
    assert_int_equal(out[0].unknown_word_count + out[2].unknown_word_count, 0);
    assert_null(out[0].unknown_words);
    assert_int_equal(out[1].unknown_word_count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(out[1].unknown_words[i], words[i]);
    assert_true(out[3].split);
    assert_int_equal(out[3].unknown_word_count, 1);
    assert_string_equal(out[3].unknown_words[0], "zork");
    rapt_translations_free(out, 4);
    rapt_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_alone),
        cmocka_unit_test(all_end_at_once),
        cmocka_unit_test(lengths_have_limits),
        cmocka_unit_test(options_have_ranges),
        cmocka_unit_test(storage_moves_scores),
        cmocka_unit_test(precisions_take_turns),
        cmocka_unit_test(prefixes_are_text),
        cmocka_unit_test(numbers_that_are_not_finite),
        cmocka_unit_test(prefixes_begin_lines),
        cmocka_unit_test(prefixes_of_lines),
        cmocka_unit_test(tokens_of_both_sides),
        cmocka_unit_test(equal_looks_are_equal_shares),
        cmocka_unit_test(rows_know_what_came_before),
        cmocka_unit_test(sentences_are_split_on_request),
        cmocka_unit_test(pieces_are_counted_through),
        cmocka_unit_test(unknown_words_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
