/* test_bpe_no_memory.c: every allocation of the BPE trainer, and every thread that it starts, is made to fail in turn:
 * the failure is reported, nothing crashes, nothing leaks.
 * For src/text/bpe/bpe_train.c and what it stands on, PCRE2's own allocations left out. Linked as
 * tests/failing.h says.
 * labels: threads */
#include "options.h"
#include "text/bpe/bpe_train.h"

#include "failing.h"

#include <stdio.h>
#include <stdlib.h>

/* Words of four letters: enough distinct ones for every table to grow, and chunks for more than one thread. */
static char text[150000];

static void fill_text(void)
{
    uint64_t x = 5;
    for (size_t i = 0; i < sizeof text; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        text[i] = i % 5 ? (char)('a' + x % 20) : ' ';
    }
}

static rapt_code train(const split *cut, int threads)
{
    bpe_merge *merges;
    size_t count;
    rapt_error err = {0};
    rapt_bpe_options o = TRAIN_BPE(.vocab_size = 256 + 300, .threads = threads);
    rapt_code code = bpe_train((learn_text){.data = text, .size = sizeof text}, cut, &o, &merges, &count, &err);
    assert_int_equal(code, err.code);
    assert_true(code == RAPT_OK ? count == 300 : merges == NULL);
    free(merges);
    return code;
}

static void fail_each_allocation(const split *cut, int threads)
{
    char what[32];
    snprintf(what, sizeof what, "%d threads", threads);
    failing f = {.what = what, .at_least = 31, .threads = true};
    do {
        failing_arm(&f);
    } while (failing_again(&f, train(cut, threads)));
}

static void test_training(void **state)
{
    (void)state;
    fill_text();
    split *cut = split_new(SPLIT_GPT2, NULL);
    assert_non_null(cut);
    for (int threads = 1; threads < 4; threads++)
        fail_each_allocation(cut, threads);
    split_free(cut);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_training)};
    return cmocka_run_group_tests(tests, failing_check_link, NULL);
}
