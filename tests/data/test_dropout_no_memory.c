/* tests/data/test_dropout_no_memory.c: batches with BPE dropout, where each allocation fails in turn: no batch, or the one that
 * there is with enough memory. */
#include "failing.h"

#include "data/dataset.h"
#include "options.h"

#include <string.h>

static void batches(void **state)
{
    static const char *const sources[] = {"a b a b ab", "abab abcab bcab", ""}, *const targets[] = {"ab", "bcab cab", "ab"};
    static const char text[] = "abab abcab bcab abc abab cab aab abab";
    rapt_error err = {0};
    (void)state;
    rapt_tokenizer *k = rapt_tokenizer_train_bpe(text, strlen(text), &TRAIN_BPE(.vocab_size = 262, .min_freq = 1), &err);
    rapt_pairs *pairs = rapt_pairs_from_lines(sources, targets, 3, &err);
    rapt_dataset *d = rapt_dataset_new(pairs, k, k, NULL, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(dataset_set_dropout(d, pairs, k, k, 0.5, 3, &err), RAPT_OK);
    rapt_loader *enough = rapt_loader_new(d, NULL, NULL);
    const rapt_batch *expected = rapt_loader_batch(enough, 1, 0);
    failing f = {.what = "a batch", .at_least = 5, .uncounted = true}; /* the tokenizer keeps an encoder */
    bool made;
    do {
        failing_arm(&f);
        rapt_loader *l = rapt_loader_new(d, NULL, NULL);
        const rapt_batch *b = l ? rapt_loader_batch(l, 1, 0) : NULL;
        failing_disarm();
        made = b != NULL;
        if (made) {
            const size_t count = b->labels.batch * b->labels.time;
            assert_true(b->tokens == expected->tokens && b->labels.time == expected->labels.time);
            assert_memory_equal(b->labels.ids, expected->labels.ids, count * sizeof *b->labels.ids);
        }
        rapt_loader_free(l);
    } while (failing_again(&f, made ? RAPT_OK : RAPT_ERR_MEMORY));
    rapt_loader_free(enough);
    rapt_dataset_free(d);
    rapt_pairs_free(pairs);
    rapt_tokenizer_free(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(batches)};
    return cmocka_run_group_tests(tests, failing_check_link, NULL);
}
