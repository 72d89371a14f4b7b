/* tests/data/test_corpora.c: several corpora as one list of pairs, and how often a pass has each pair if they have weights. What
 * is expected of whole weights is the pass over a file in which corpora are repeated. For src/data/pairs.c and
 * src/data/corpus_pass.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "data/dataset.h"
#include "data/pairs.h"
#include "folder.h"
#include "options.h"
#include "rapt/data.h"

#include <string.h>

enum { SEED = 5, A = 120, B = 77 };

/* Lines of 1 to 11 words, `count` of them, that no other name has. */
static void write_pairs(FILE *f, const char *name, int count)
{
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < 1 + i * 7 % 11; j++)
            fprintf(f, "%s%s%d", j ? " " : "", name, i);
        fprintf(f, "\t%s%d\n", name, i);
    }
}

static void make_files(void)
{
    static const struct {
        const char *name;
        int a, b, again, third;
    } files[] = {{"a", A, 0, 0, 0}, {"b", 0, B, 0, 0}, {"ab", A, B, 0, 0}, {"aba", A, B, A, 0}, {"abaa", A, B, A, A}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        FILE *f = fopen(folder_in(files[i].name), "w");
        assert_non_null(f);
        write_pairs(f, "a", files[i].a);
        write_pairs(f, "b", files[i].b);
        write_pairs(f, "a", files[i].again);
        write_pairs(f, "a", files[i].third);
        fclose(f);
    }
}

static rapt_pairs *read_list(const char *one, const char *other, size_t limit, rapt_error *err)
{
    char list[2 * FOLDER_ROOM];
    snprintf(list, sizeof list, "%s\n\n", folder_in(one));
    strcat(list, folder_in(other));
    return rapt_pairs_read(list, limit, err);
}

static void a_list_is_one_after_another(void **state)
{
    rapt_error err = {0};
    (void)state;
    make_files();
    rapt_pairs *p = read_list("a", "b", 0, &err), *whole = rapt_pairs_read(folder_in("ab"), 0, &err);
    assert_non_null(p);
    assert_int_equal(rapt_pairs_count(p), A + B);
    for (size_t i = 0; i < A + B; i++) {
        assert_string_equal(rapt_pairs_source(p, i), rapt_pairs_source(whole, i));
        assert_string_equal(rapt_pairs_target(p, i), rapt_pairs_target(whole, i));
    }
    assert_int_equal(pairs_corpora(p), 2);
    assert_int_equal(rapt_pairs_line(p, A), 1);
    assert_string_equal(pairs_path_of(p, A - 1), folder_in("a"));
    assert_string_equal(pairs_path_of(p, A), folder_in("b"));
    rapt_pairs_free(p);
    rapt_pairs_free(whole);
    p = read_list("a", "b", 10, &err); /* a limit is for each */
    assert_int_equal(rapt_pairs_count(p), 20);
    assert_string_equal(pairs_path_of(p, 10), folder_in("b"));
    rapt_pairs_free(p);
}

static void each_corpus_must_have_pairs(void **state)
{
    rapt_error err = {0};
    (void)state;
    make_files();
    fclose(fopen(folder_in("none"), "w"));
    assert_null(read_list("a", "none", 0, &err));
    assert_non_null(strstr(err.message, "none: the file is empty"));
    err = (rapt_error){0};
    assert_null(read_list("a", "missing", 0, &err));
    assert_int_equal(err.code, RAPT_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "missing"));
    err = (rapt_error){0};
    assert_null(rapt_pairs_read("\n", 0, &err));
    assert_int_equal(err.code, RAPT_ERR_NOT_FOUND);
}

/* ---- passes --------------------------------------------------------------------------------------------------- */

typedef struct set {
    rapt_pairs *pairs;
    rapt_tokenizer *words; /* knows all targets, each of which is one word: its id tells the pair */
    rapt_dataset *data;
} set;

static rapt_tokenizer *learn_targets(void)
{
    const char *lines[A + B];
    rapt_pairs *all = rapt_pairs_read(folder_in("ab"), 0, NULL);
    for (size_t i = 0; i < A + B; i++)
        lines[i] = rapt_pairs_target(all, i);
    rapt_tokenizer *k = rapt_tokenizer_train_words(lines, A + B, &TRAIN_WORDS(), NULL);
    rapt_pairs_free(all);
    return k;
}

static set set_of(rapt_pairs *pairs, const double *weights)
{
    rapt_error err = {0};
    set s = {.pairs = pairs, .words = learn_targets()};
    assert_non_null(pairs);
    s.data = rapt_dataset_new(pairs, s.words, s.words, &DATASET(.max_len = 40), NULL);
    assert_non_null(s.data);
    if (weights)
        assert_int_equal(dataset_set_weights(s.data, pairs, weights, &err), RAPT_OK);
    return s;
}

static void set_free(set *s)
{
    rapt_dataset_free(s->data);
    rapt_tokenizer_free(s->words);
    rapt_pairs_free(s->pairs);
}

static void assert_same_batch(const rapt_batch *a, const rapt_batch *b)
{
    const size_t rows = a->source.batch, sources = rows * a->source.time, targets = rows * a->labels.time;
    assert_int_equal(rows, b->source.batch);
    assert_int_equal(a->source.time, b->source.time);
    assert_int_equal(a->labels.time, b->labels.time);
    assert_memory_equal(a->source.ids, b->source.ids, sources * sizeof *a->source.ids);
    assert_memory_equal(a->labels.ids, b->labels.ids, targets * sizeof *a->labels.ids);
    assert_memory_equal(a->examples, b->examples, rows * sizeof *a->examples); /* what keys dropout */
}

/* Whole weights: the batches of a file in which the corpora are repeated. */
static void assert_like_file(double a, double b, const char *file, rapt_loader_options o)
{
    const double weights[] = {a, b};
    set weighted = set_of(read_list("a", "b", 0, NULL), weights);
    set joined = set_of(rapt_pairs_read(folder_in(file), 0, NULL), NULL);
    rapt_loader *one = rapt_loader_new(weighted.data, &o, NULL), *other = rapt_loader_new(joined.data, &o, NULL);
    assert_int_equal(rapt_loader_batches(one), rapt_loader_batches(other));
    for (size_t epoch = 0; epoch < 3; epoch++)
        for (size_t i = 0; i < rapt_loader_batches(one); i++)
            assert_same_batch(rapt_loader_batch(one, epoch, i), rapt_loader_batch(other, epoch, i));
    assert_same_batch(rapt_loader_largest(one), rapt_loader_largest(other));
    rapt_loader_free(one);
    rapt_loader_free(other);
    set_free(&weighted);
    set_free(&joined);
}

static void whole_weights_repeat_a_corpus(void **state)
{
    (void)state;
    make_files();
    const rapt_loader_options sentences = LOADER(.batch_size = 16, .shuffle = true, .seed = SEED),
        tokens = LOADER(.batch_tokens = 60, .seed = SEED);
    assert_like_file(1, 1, "ab", sentences);
    assert_like_file(1, 1, "ab", tokens);
    assert_like_file(2, 1, "aba", sentences);
    assert_like_file(2, 1, "aba", tokens);
    assert_like_file(3, 1, "abaa", sentences);
    assert_like_file(3, 1, "abaa", tokens);
}

/* How often an epoch has each of the pairs, by the ids of their targets. */
static void count_pairs(rapt_loader *l, const set *s, size_t epoch, size_t max_tokens, int seen[A + B])
{
    memset(seen, 0, (A + B) * sizeof *seen);
    for (size_t i = 0; i < rapt_loader_batches(l); i++) {
        const rapt_batch *b = rapt_loader_batch(l, epoch, i);
        size_t longest = 0;
        for (size_t k = 0; k < b->source.batch; k++) {
            longest = (size_t)b->source_lens[k] > longest ? (size_t)b->source_lens[k] : longest;
            for (size_t pair = 0; pair < A + B; pair++)
                seen[pair] += s->data->examples[pair].target[0] == b->labels.ids[k * b->labels.time];
        }
        assert_true(!max_tokens || b->source.batch == 1 || b->source.batch * longest <= max_tokens);
    }
}

static void fractions_are_drawn_anew_in_each_pass(void **state)
{
    static const double weights[] = {0.25, 1.5}; /* 30 of 120, and 77 + 39 (38.5, to the nearest) */
    enum { PASSES = 400 };
    int seen[A + B], first[A + B], often[A + B] = {0};
    (void)state;
    make_files();
    for (size_t by_tokens = 0; by_tokens < 2; by_tokens++) {
        const rapt_loader_options o = by_tokens ? LOADER(.batch_tokens = 60, .seed = SEED)
                                                : LOADER(.batch_size = 16, .shuffle = true, .seed = SEED);
        set s = set_of(read_list("a", "b", 0, NULL), weights);
        rapt_loader *l = rapt_loader_new(s.data, &o, NULL), *other = rapt_loader_new(s.data, &o, NULL);
        for (size_t epoch = 0; epoch < PASSES; epoch++) {
            int a = 0, b = 0;
            count_pairs(l, &s, epoch, by_tokens ? 60 : 0, seen);
            for (size_t i = 0; i < A + B; i++) {
                *(i < A ? &a : &b) += seen[i];
                assert_in_range(seen[i], i < A ? 0 : 1, i < A ? 1 : 2);
                often[i] += seen[i];
            }
            assert_int_equal(a, 30);
            assert_int_equal(b, 77 + 39);
            if (epoch > 0)
                assert_memory_not_equal(seen, first, sizeof seen);
            memcpy(first, seen, sizeof seen);
        }
        count_pairs(other, &s, PASSES - 1, 0, seen); /* without the passes before it, as a resumed run */
        assert_memory_equal(seen, first, sizeof seen);
        rapt_loader_free(l);
        rapt_loader_free(other);
        set_free(&s);
    }
    /* Each pair has the same chance: of 800 passes 200, or 800 + 405, in a binomial distribution with a deviation of 12 or 14. */
    for (size_t i = 0; i < A + B; i++)
        assert_in_range(often[i], (i < A ? 200 : 1205) - 75, (i < A ? 200 : 1205) + 75);
}

static void weights_out_of_range_are_refused(void **state)
{
    const double too_few[] = {0.001, 1}, too_many[] = {1, 1e9};
    rapt_error err = {0};
    (void)state;
    make_files();
    set s = set_of(read_list("a", "b", 0, NULL), NULL);
    assert_int_equal(dataset_set_weights(s.data, s.pairs, too_few, &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "a: weight 0.001 of 120 pairs is less than one pair in a pass"));
    corpus_pass_free(&s.data->pass);
    err = (rapt_error){0};
    assert_int_equal(dataset_set_weights(s.data, s.pairs, too_many, &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "would have more than 4294967295 pairs"));
    set_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_one_after_another), cmocka_unit_test(each_corpus_must_have_pairs),
        cmocka_unit_test(whole_weights_repeat_a_corpus), cmocka_unit_test(fractions_are_drawn_anew_in_each_pass),
        cmocka_unit_test(weights_out_of_range_are_refused)};
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
