/* tests/data/test_loader.c: sentence pairs from one file and from two, and batches of them: by a number of sentences, or of
 * tokens. For src/data/pairs.c and src/data/loader.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "folder.h"
#include "options.h"
#include "rapt/data.h"

#include <string.h>

enum { PAIRS = 500, SEED = 7 };

static void put(const char *name, const char *text)
{
    FILE *f = fopen(folder_in(name), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static rapt_pairs *read_two(const char *source, const char *target, rapt_error *err)
{
    char path[2 * FOLDER_ROOM];
    snprintf(path, sizeof path, "%s:%s", folder_in(source), folder_in(target));
    return rapt_pairs_read(path, 0, err);
}

/* ---- pairs --------------------------------------------------------------------------------------------------- */

static void two_files_are_pairs_line_by_line(void **state)
{
    (void)state;
    put("a", "one\n\ntwo\tthree\n\n");
    put("b", "eins\r\n\r\nzwei\r\nvier\r\n");
    rapt_pairs *p = read_two("a", "b", NULL);
    assert_int_equal(rapt_pairs_count(p), 3); /* two empty lines are no pair, one is */
    assert_string_equal(rapt_pairs_source(p, 0), "one");
    assert_string_equal(rapt_pairs_target(p, 0), "eins");
    assert_string_equal(rapt_pairs_source(p, 1), "two\tthree");
    assert_int_equal(rapt_pairs_line(p, 1), 3);
    assert_string_equal(rapt_pairs_source(p, 2), "");
    assert_string_equal(rapt_pairs_target(p, 2), "vier");
    rapt_pairs_free(p);
}

static void a_file_may_have_a_colon_in_its_name(void **state)
{
    (void)state;
    put("x:y", "one\teins\n");
    rapt_pairs *p = rapt_pairs_read(folder_in("x:y"), 0, NULL);
    assert_non_null(p);
    assert_string_equal(rapt_pairs_target(p, 0), "eins");
    rapt_pairs_free(p);
}

static void unequal_files_are_refused(void **state)
{
    rapt_error err = {0};
    (void)state;
    put("a", "one\ntwo\n");
    put("b", "eins\n");
    assert_null(read_two("a", "b", &err));
    assert_non_null(strstr(err.message, "2 and 1 lines"));
    put("a", "");
    put("b", "");
    err = (rapt_error){0};
    assert_null(read_two("a", "b", &err));
    assert_non_null(strstr(err.message, "empty"));
}

/* ---- batches ------------------------------------------------------------------------------------------------- */

typedef struct corpus {
    rapt_pairs *pairs;
    rapt_tokenizer *words;
    rapt_dataset *data;
} corpus;

/* Sources of 1 to 13 words, targets of 1 to 17. */
static corpus make_corpus(void)
{
    FILE *f = fopen(folder_in("pairs"), "w");
    assert_non_null(f);
    for (int i = 0; i < PAIRS; i++) {
        for (int j = 0; j < 1 + i * 7 % 13; j++)
            fprintf(f, "%sa%d", j ? " " : "", i % 50);
        fputc('\t', f);
        for (int j = 0; j < 1 + i * 11 % 17; j++)
            fprintf(f, "%sb%d", j ? " " : "", i % 40);
        fputc('\n', f);
    }
    fclose(f);
    corpus c = {.pairs = rapt_pairs_read(folder_in("pairs"), 0, NULL)};
    const char *line = "a b";
    c.words = rapt_tokenizer_train_words(&line, 1, &TRAIN_WORDS(), NULL);
    c.data = rapt_dataset_new(c.pairs, c.words, c.words, &DATASET(.max_len = 40), NULL);
    assert_non_null(c.data);
    return c;
}

static void free_corpus(corpus *c)
{
    rapt_dataset_free(c->data);
    rapt_tokenizer_free(c->words);
    rapt_pairs_free(c->pairs);
}

static size_t longest(const rapt_batch *b)
{
    size_t most = 0;
    for (size_t i = 0; i < b->source.batch; i++) {
        most = (size_t)b->source_lens[i] > most ? (size_t)b->source_lens[i] : most;
        most = (size_t)b->target_lens[i] > most ? (size_t)b->target_lens[i] : most;
    }
    return most;
}

/* Each pair is in one batch; first[i]: the first pair of batch i. */
static void walk(rapt_loader *l, size_t epoch, size_t most, uint32_t *first)
{
    int seen[PAIRS] = {0};
    for (size_t i = 0; i < rapt_loader_batches(l); i++) {
        const rapt_batch *b = rapt_loader_batch(l, epoch, i);
        assert_true(b->source.batch == 1 || b->source.batch * longest(b) <= most);
        first[i] = b->examples[0];
        for (size_t j = 0; j < b->source.batch; j++)
            seen[b->examples[j]]++;
    }
    for (size_t i = 0; i < PAIRS; i++)
        assert_int_equal(seen[i], 1);
}

static void batches_by_tokens_hold_each_pair_once(void **state)
{
    static const size_t limits[] = {1, 20, 100, 1000, 1000000};
    corpus c = make_corpus();
    uint32_t first[PAIRS];
    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        rapt_loader *l = rapt_loader_new(c.data, &LOADER(.batch_tokens = limits[i], .seed = SEED), NULL);
        for (size_t epoch = 0; epoch < 3; epoch++)
            walk(l, epoch, limits[i], first);
        assert_true(limits[i] > 1 || rapt_loader_batches(l) == PAIRS);
        assert_true(limits[i] < 1000000 || rapt_loader_batches(l) == 1);
        rapt_loader_free(l);
    }
    free_corpus(&c);
}

/* Sorted by length there is little padding: all sentences of a batch count nearly the same. */
static void they_are_well_filled(void **state)
{
    corpus c = make_corpus();
    rapt_loader *l = rapt_loader_new(c.data, &LOADER(.batch_tokens = 100, .seed = SEED), NULL);
    size_t whole = 0;
    (void)state;
    for (size_t i = 0; i < PAIRS; i++) { /* with <eos> */
        size_t source = 2 + i * 7 % 13, target = 2 + i * 11 % 17;
        whole += source > target ? source : target;
    }
    assert_in_range(rapt_loader_batches(l), whole / 100, whole / 100 + 18 + whole / 500); /* a rest for each length */
    rapt_loader_free(l);
    free_corpus(&c);
}

static void order_depends_on_seed_and_epoch_alone(void **state)
{
    corpus c = make_corpus();
    uint32_t a[PAIRS], b[PAIRS];
    rapt_loader *l = rapt_loader_new(c.data, &LOADER(.batch_tokens = 100, .seed = SEED), NULL);
    rapt_loader *again = rapt_loader_new(c.data, &LOADER(.batch_tokens = 100, .seed = SEED), NULL);
    rapt_loader *other = rapt_loader_new(c.data, &LOADER(.batch_tokens = 100, .seed = SEED + 1), NULL);
    size_t bytes = rapt_loader_batches(l) * sizeof *a;
    (void)state;
    walk(l, 0, 100, b);
    walk(l, 2, 100, a);
    assert_memory_not_equal(a, b, bytes);
    walk(again, 2, 100, b); /* without the epochs before it */
    assert_memory_equal(a, b, bytes);
    rapt_loader_largest(again);
    walk(again, 2, 100, b);
    assert_memory_equal(a, b, bytes);
    const uint32_t example = rapt_loader_batch(again, 2, 0)->examples[0]; /* a batch that is kept is of its epoch alone */
    assert_int_not_equal(rapt_loader_batch(again, 0, 0)->examples[0], example);
    assert_int_equal(rapt_loader_batch(again, 2, 0)->examples[0], example);
    rapt_loader_largest(again);
    assert_int_equal(rapt_loader_batch(again, 2, 0)->examples[0], example);
    walk(other, 2, 100, b);
    assert_memory_not_equal(a, b, bytes);
    rapt_loader_free(l);
    rapt_loader_free(again);
    rapt_loader_free(other);
    free_corpus(&c);
}

static void the_largest_is_no_smaller_than_any(void **state)
{
    corpus c = make_corpus();
    rapt_loader *l = rapt_loader_new(c.data, &LOADER(.batch_tokens = 100, .seed = SEED), NULL);
    const rapt_batch *b = rapt_loader_largest(l);
    size_t most = b->source.batch * longest(b);
    (void)state;
    for (size_t i = 0; i < rapt_loader_batches(l); i++) {
        b = rapt_loader_batch(l, 0, i);
        assert_true(b->source.batch * longest(b) <= most);
    }
    rapt_loader_free(l);
    free_corpus(&c);
}

/* Targets begin and sentences end with the ids of the model, and rows are padded with its own. */
static void special_ids_of_a_model(void **state)
{
    (void)state;
    corpus c = make_corpus();
    const rapt_special_ids special = {.unk = 0, .pad = 9, .bos = 8, .eos = 7};
    rapt_dataset *d = rapt_dataset_new(c.pairs, c.words, c.words, &DATASET(.special = &special), NULL);
    rapt_loader *l = rapt_loader_new(d, NULL, NULL);
    const rapt_batch *b = rapt_loader_batch(l, 0, 0);
    for (size_t i = 0; i < b->source.batch; i++) {
        const int32_t *source = b->source.ids + i * b->source.time, *labels = b->labels.ids + i * b->labels.time;
        assert_int_equal(b->inputs.ids[i * b->inputs.time], 8);
        assert_int_equal(source[b->source_lens[i] - 1], 7);
        assert_int_equal(labels[b->target_lens[i] - 1], 7);
        for (size_t j = (size_t)b->source_lens[i]; j < b->source.time; j++)
            assert_int_equal(source[j], 9);
    }
    rapt_loader_free(l);
    rapt_dataset_free(d);
    free_corpus(&c);
}

static void batches_of_all_and_of_the_default(void **state)
{
    corpus c = make_corpus();
    (void)state;
    for (int i = 0; i < 2; i++) { /* zeroed options and none at all */
        rapt_dataset *d = rapt_dataset_new(c.pairs, c.words, c.words, i ? &DATASET() : NULL, NULL);
        rapt_loader *l = rapt_loader_new(d, i ? &LOADER() : NULL, NULL);
        assert_int_equal(rapt_dataset_count(d), PAIRS);
        assert_int_equal(rapt_loader_batches(l), (PAIRS + 31) / 32);
        assert_int_equal(rapt_loader_batch(l, 0, 0)->examples[1], 1); /* in order */
        rapt_loader_free(l);
        rapt_dataset_free(d);
    }
    for (size_t size = SIZE_MAX / 2 + 1; size; size = size == SIZE_MAX ? 0 : SIZE_MAX) {
        rapt_loader_options o = LOADER(.batch_size = size, .shuffle = true, .seed = SEED);
        rapt_loader *l = rapt_loader_new(c.data, &o, NULL);
        assert_int_equal(rapt_loader_batches(l), 1);
        assert_int_equal(rapt_loader_batch(l, 0, 0)->source.batch, PAIRS);
        rapt_loader_free(l);
    }
    free_corpus(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_files_are_pairs_line_by_line),      cmocka_unit_test(a_file_may_have_a_colon_in_its_name),
        cmocka_unit_test(unequal_files_are_refused),             cmocka_unit_test(batches_by_tokens_hold_each_pair_once),
        cmocka_unit_test(they_are_well_filled),                  cmocka_unit_test(order_depends_on_seed_and_epoch_alone),
        cmocka_unit_test(the_largest_is_no_smaller_than_any),    cmocka_unit_test(batches_of_all_and_of_the_default),
        cmocka_unit_test(special_ids_of_a_model),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
