/* test_metrics_golden.c: BLEU and chrF of whole texts against the scores that sacreBLEU 2.6.0 gave them.
 * For src/metrics/bleu.c and src/metrics/chrf.c.
 * Not the place to look why a score is wrong: test_metrics.c has the small cases. */
#include "options.h"
#include "rapt/metrics.h"
#include "text/lines.h"
#include "base/texts.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

enum { MAX_BYTES = 1 << 26, MAX_REFERENCES = 8 };

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-6))
        fail_msg("%.12g is not %.12g", got, want);
}

struct golden {
    struct lines translation, references[MAX_REFERENCES];
    rapt_text *scored, *references_scored[MAX_REFERENCES];
    const rapt_text *columns[MAX_REFERENCES];
    size_t count;
};

static const struct {
    const char *name;
    rapt_bleu_options options;
} bleu_kinds[] = {
    {"bleu_13a", {BLEU_DEFAULTS, .tokenize = RAPT_TOKENIZE_13A}},
    {"bleu_13a_lc", {BLEU_DEFAULTS, .tokenize = RAPT_TOKENIZE_13A, .lowercase = true}},
    {"bleu_none", {BLEU_DEFAULTS, .tokenize = RAPT_TOKENIZE_NONE}},
    {"bleu_intl", {BLEU_DEFAULTS, .tokenize = RAPT_TOKENIZE_INTL}},
    {"bleu_char", {BLEU_DEFAULTS, .tokenize = RAPT_TOKENIZE_CHAR}},
    {"bleu_13a_nosmooth", {BLEU_DEFAULTS, .smooth = RAPT_SMOOTH_NONE}},
    {"bleu_13a_floor", {BLEU_DEFAULTS, .smooth = RAPT_SMOOTH_FLOOR}},
    {"bleu_13a_addk", {BLEU_DEFAULTS, .smooth = RAPT_SMOOTH_ADD_K}},
};

static const struct {
    const char *name;
    rapt_chrf_options options;
} chrf_kinds[] = {
    {"chrf", {CHRF_DEFAULTS, .word_order = 0}},
    {"chrf_lc", {CHRF_DEFAULTS, .lowercase = true}},
    {"chrf++", {CHRF_DEFAULTS, .word_order = 2}},
};

static const char *golden_path(const char *name)
{
    static char path[1024];
    const char *shared = getenv("RAPT_SHARED");
    snprintf(path, sizeof path, "%s/golden/bleu/%s", shared ? shared : "../shared", name);
    return path;
}

static json_t *golden_json(const char *name)
{
    json_t *json = json_load_file(golden_path(name), 0, NULL);
    if (!json) {
        print_message("%s is not here\n", golden_path(name));
        skip();
    }
    return json;
}

static void read_lines(const char *name, struct lines *lines)
{
    rapt_error err = {0};
    if (lines_read(golden_path(name), MAX_BYTES, lines, &err) != RAPT_OK)
        fail_msg("%s", err.message);
}

static void open_case(const json_t *entry, struct golden *golden)
{
    const json_t *refs = json_object_get(entry, "refs");
    golden->count = json_array_size(refs);
    assert_in_range(golden->count, 1, MAX_REFERENCES);
    read_lines(json_string_value(json_object_get(entry, "hyp")), &golden->translation);
    golden->scored = texts_of((const char *const *)golden->translation.line, golden->translation.count, NULL);
    assert_int_equal(golden->translation.count, json_integer_value(json_object_get(entry, "lines")));
    for (size_t r = 0; r < golden->count; r++) {
        read_lines(json_string_value(json_array_get(refs, r)), &golden->references[r]);
        assert_int_equal(golden->references[r].count, golden->translation.count);
        golden->columns[r] = golden->references_scored[r] = texts_of((const char *const *)golden->references[r].line,
                                                                     golden->references[r].count, NULL);
    }
}

static void close_case(struct golden *golden)
{
    lines_free(&golden->translation);
    free(golden->scored);
    for (size_t r = 0; r < golden->count; r++) {
        lines_free(&golden->references[r]);
        free(golden->references_scored[r]);
    }
}

static void compare(const json_t *want, const char *field, double got)
{
    const json_t *value = json_object_get(want, field);
    assert_true(json_is_number(value));
    assert_near(got, json_number_value(value));
}

static void compare_all(const json_t *want, const char *field, const double *got)
{
    const json_t *array = json_object_get(want, field);
    assert_int_equal(json_array_size(array), RAPT_BLEU_ORDER);
    for (size_t n = 0; n < RAPT_BLEU_ORDER; n++)
        assert_near(got[n], json_number_value(json_array_get(array, n)));
}

static void check_bleu(const struct golden *golden, const rapt_bleu_options *options, const json_t *want)
{
    rapt_bleu bleu;
    rapt_error err = {0};
    char signature[RAPT_SIGNATURE_SIZE];
    const rapt_metric_texts texts = {.translations = golden->scored, .references = golden->columns,
                                     .reference_count = golden->count, .segment_count = golden->translation.count};
    if (rapt_bleu_corpus(options, &texts, &bleu, &err) != RAPT_OK)
        fail_msg("%s", err.message);
    compare(want, "score", bleu.score);
    compare(want, "bp", bleu.bp);
    compare(want, "sys_len", (double)bleu.sys_len);
    compare(want, "ref_len", (double)bleu.ref_len);
    compare_all(want, "counts", bleu.counts);
    compare_all(want, "totals", bleu.totals);
    compare_all(want, "precisions", bleu.precisions);
    rapt_bleu_signature(options, golden->count, signature, sizeof signature);
    assert_string_equal(signature, json_string_value(json_object_get(want, "signature")));
}

static void check_chrf(const struct golden *golden, const rapt_chrf_options *options, const json_t *want)
{
    double score;
    rapt_error err = {0};
    char signature[RAPT_SIGNATURE_SIZE];
    const rapt_metric_texts texts = {.translations = golden->scored, .references = golden->columns,
                                     .reference_count = golden->count, .segment_count = golden->translation.count};
    if (rapt_chrf_corpus(options, &texts, &score, &err) != RAPT_OK)
        fail_msg("%s", err.message);
    compare(want, "score", score);
    rapt_chrf_signature(options, golden->count, signature, sizeof signature);
    assert_string_equal(signature, json_string_value(json_object_get(want, "signature")));
}

static void check_case(const json_t *entry)
{
    struct golden golden = {0};
    const json_t *scores = json_object_get(entry, "scores");
    open_case(entry, &golden);
    for (size_t k = 0; k < sizeof bleu_kinds / sizeof *bleu_kinds; k++)
        check_bleu(&golden, &bleu_kinds[k].options, json_object_get(scores, bleu_kinds[k].name));
    for (size_t k = 0; k < sizeof chrf_kinds / sizeof *chrf_kinds; k++)
        check_chrf(&golden, &chrf_kinds[k].options, json_object_get(scores, chrf_kinds[k].name));
    close_case(&golden);
}

static void test_golden_corpora(void **state)
{
    (void)state;
    json_t *index = golden_json("index.json");
    const json_t *cases = json_object_get(index, "cases");
    assert_true(json_array_size(cases) > 0);
    for (size_t i = 0; i < json_array_size(cases); i++)
        check_case(json_array_get(cases, i));
    json_decref(index);
}

static const json_t *find_case(const json_t *index, const char *name)
{
    const json_t *cases = json_object_get(index, "cases");
    for (size_t i = 0; i < json_array_size(cases); i++)
        if (strcmp(json_string_value(json_object_get(json_array_get(cases, i), "name")), name) == 0)
            return json_array_get(cases, i);
    return NULL;
}

static void check_sentence(const struct golden *golden, const json_t *want)
{
    const rapt_bleu_options effective = BLEU(.effective_order = true);
    rapt_text row[MAX_REFERENCES];
    size_t line = (size_t)json_integer_value(json_object_get(want, "line")) - 1;
    rapt_bleu bleu;
    double chrf;
    assert_true(line < golden->translation.count);
    for (size_t r = 0; r < golden->count; r++)
        row[r] = golden->references_scored[r][line];
    const rapt_text *translation = &golden->scored[line];
    assert_int_equal(rapt_bleu_sentence(&effective, translation, row, golden->count, &bleu, NULL), RAPT_OK);
    assert_int_equal(rapt_chrf_sentence(NULL, translation, row, golden->count, &chrf, NULL), RAPT_OK);
    compare(want, "bleu_13a_effective", bleu.score);
    compare(want, "chrf", chrf);
}

/* Some sentences are of cases whose texts are not among the golden files: those are left out. */
static void test_golden_sentences(void **state)
{
    (void)state;
    json_t *index = golden_json("index.json"), *sentences = golden_json("sentences.json");
    size_t checked = 0;
    for (size_t i = 0; i < json_array_size(sentences); i++) {
        const json_t *want = json_array_get(sentences, i);
        const json_t *entry = find_case(index, json_string_value(json_object_get(want, "case")));
        struct golden golden = {0};
        if (!entry)
            continue;
        open_case(entry, &golden);
        check_sentence(&golden, want);
        close_case(&golden);
        checked++;
    }
    print_message("%zu of %zu sentences have their texts here\n", checked, json_array_size(sentences));
    assert_true(checked > 0);
    json_decref(index);
    json_decref(sentences);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_corpora),
        cmocka_unit_test(test_golden_sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
