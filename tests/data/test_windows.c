/* tests/data/test_windows.c: windows of a token stream: labels one token later, random places that (seed, step) decides,
 * evaluation that has each token once. For src/data/windows.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rapt/stream.h"
#include "token_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VOCAB = 100003, CONTEXT = 7, BATCH = 3 };

/* Token i of the test stream; never 0, so that padding shows. */
static int32_t token_at(size_t i)
{
    return (int32_t)(1 + i * 7919 % (VOCAB - 1));
}

static rapt_token_file *stream_of(size_t count)
{
    int32_t *ids = malloc(count * sizeof *ids);
    for (size_t i = 0; i < count; i++)
        ids[i] = token_at(i);
    rapt_token_file *f = rapt_token_file_from_ids(ids, count, VOCAB, NULL);
    assert_non_null(f);
    free(ids);
    return f;
}

static rapt_windows *windows_of(const rapt_token_file *f, size_t begin, size_t end, size_t context, size_t batch,
                                uint64_t seed)
{
    rapt_error err = {0};
    rapt_windows *w = rapt_windows_new(f, &(rapt_token_range){begin, end, "part"}, context, batch, seed, &err);
    assert_string_equal(err.message, "");
    assert_non_null(w);
    return w;
}

/* Row `row` is the stream from its start on, its labels are one token later, and zeros fill it up. */
static void check_row(const rapt_window_batch *b, size_t row, size_t begin, size_t end)
{
    size_t time = b->inputs.time, start = b->starts[row], length = (size_t)b->valid_lens[row];
    assert_true(length >= 1 && length <= time && start >= begin && start + length < end);
    for (size_t i = 0; i < time; i++) {
        assert_int_equal(b->inputs.ids[row * time + i], i < length ? token_at(start + i) : 0);
        assert_int_equal(b->labels.ids[row * time + i], i < length ? token_at(start + i + 1) : 0);
    }
}

static void check_batch(const rapt_window_batch *b, size_t rows, size_t time, size_t begin, size_t end)
{
    size_t tokens = 0;
    assert_int_equal(b->inputs.batch, rows);
    assert_int_equal(b->labels.batch, rows);
    assert_int_equal(b->inputs.time, time);
    assert_int_equal(b->labels.time, time);
    assert_true(!b->inputs.lens && !b->labels.lens);
    for (size_t row = 0; row < rows; row++) {
        check_row(b, row, begin, end);
        tokens += (size_t)b->valid_lens[row];
    }
    assert_int_equal(b->tokens, tokens);
}

static void random_windows_lie_in_the_part(void **state)
{
    (void)state;
    rapt_token_file *f = stream_of(100);
    rapt_windows *w = windows_of(f, 20, 60, CONTEXT, BATCH, 1);
    for (uint64_t step = 0; step < 5000; step++) {
        const rapt_window_batch *b = rapt_windows_random(w, step);
        check_batch(b, BATCH, CONTEXT, 20, 60);
        assert_int_equal(b->tokens, BATCH * CONTEXT);
        for (size_t row = 0; row < BATCH; row++)
            assert_int_equal(b->examples[row], step * BATCH + row);
    }
    rapt_windows_free(w);
    rapt_token_file_close(f);
}

static void examples_wrap(void **state)
{
    (void)state;
    rapt_token_file *f = stream_of(100);
    rapt_windows *w = windows_of(f, 0, 100, CONTEXT, BATCH, 1);
    uint64_t step = UINT64_C(0x100000000) / BATCH; /* its row 0 is example 2^32 - 1 */
    const rapt_window_batch *b = rapt_windows_random(w, step);
    assert_int_equal(b->examples[0], 0xFFFFFFFFu);
    assert_int_equal(b->examples[1], 0);
    assert_int_equal(b->examples[2], 1);
    rapt_windows_free(w);
    rapt_token_file_close(f);
}

enum { STEPS = 200 };

static void record(rapt_windows *w, uint64_t first, size_t starts[STEPS][BATCH], bool backwards)
{
    for (size_t i = 0; i < STEPS; i++) {
        size_t step = backwards ? STEPS - 1 - i : i;
        memcpy(starts[step], rapt_windows_random(w, first + step)->starts, sizeof starts[step]);
    }
}

static size_t equal_steps(size_t a[STEPS][BATCH], size_t b[STEPS][BATCH])
{
    size_t equal = 0;
    for (size_t i = 0; i < STEPS; i++)
        equal += memcmp(a[i], b[i], sizeof a[i]) == 0;
    return equal;
}

static void a_batch_depends_on_seed_and_step_only(void **state)
{
    (void)state;
    static size_t first[STEPS][BATCH], again[STEPS][BATCH];
    rapt_token_file *f = stream_of(10000);
    rapt_windows *w = windows_of(f, 0, 10000, CONTEXT, BATCH, 1), *other = windows_of(f, 0, 10000, CONTEXT, BATCH, 1);
    record(w, 0, first, false);
    record(w, 0, again, true); /* the same object, another order */
    assert_int_equal(equal_steps(first, again), STEPS);
    rapt_windows_at(other, 3); /* another object, after another call */
    record(other, 0, again, false);
    assert_int_equal(equal_steps(first, again), STEPS);
    record(other, STEPS, again, false); /* other steps */
    assert_int_equal(equal_steps(first, again), 0);
    record(other, UINT64_C(1) << 32, again, false); /* all 64 bits of the step count */
    assert_int_equal(equal_steps(first, again), 0);
    rapt_windows_free(other);
    other = windows_of(f, 0, 10000, CONTEXT, BATCH, UINT64_C(1) << 32 | 1); /* and of the seed */
    record(other, 0, again, false);
    assert_int_equal(equal_steps(first, again), 0);
    rapt_windows_free(other);
    rapt_windows_free(w);
    rapt_token_file_close(f);
}

/* The sum of (seen - expected)^2 / expected; for n equally likely places its mean is n - 1, its deviation
 * sqrt(2 (n - 1)). */
static double chi_square(const size_t *seen, size_t n, double expected)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += ((double)seen[i] - expected) * ((double)seen[i] - expected) / expected;
    return sum;
}

/* Starts 5 .. 54, and pairs of them in adjacent rows and steps: 49 + 6 * 9.9 and 2499 + 6 * 70.7. */
static void starts_are_uniform_and_independent(void **state)
{
    (void)state;
    enum { PLACES = 50, DRAWS = 50000 };
    static size_t seen[PLACES], rows[PLACES * PLACES], steps[PLACES * PLACES];
    rapt_token_file *f = stream_of(80);
    rapt_windows *w = windows_of(f, 5, 5 + PLACES + CONTEXT, CONTEXT, 2, 42);
    size_t before = 0;
    for (uint64_t step = 0; step < DRAWS; step++) {
        const size_t *starts = rapt_windows_random(w, step)->starts;
        seen[starts[0] - 5]++;
        rows[(starts[0] - 5) * PLACES + starts[1] - 5]++;
        steps[before * PLACES + starts[0] - 5]++;
        before = starts[0] - 5;
    }
    for (size_t i = 0; i < PLACES; i++)
        assert_true(seen[i] > 0);
    assert_true(chi_square(seen, PLACES, DRAWS / (double)PLACES) < 109);
    assert_true(chi_square(rows, PLACES * PLACES, DRAWS / (double)(PLACES * PLACES)) < 2924);
    assert_true(chi_square(steps, PLACES * PLACES, DRAWS / (double)(PLACES * PLACES)) < 2924);
    rapt_windows_free(w);
    rapt_token_file_close(f);
}

static void the_shortest_part_has_one_window(void **state)
{
    (void)state;
    rapt_token_file *f = stream_of(50);
    rapt_windows *w = windows_of(f, 9, 9 + CONTEXT + 1, CONTEXT, BATCH, 3);
    for (uint64_t step = 0; step < 100; step++)
        for (size_t row = 0; row < BATCH; row++)
            assert_int_equal(rapt_windows_random(w, step)->starts[row], 9);
    assert_int_equal(rapt_windows_batches(w), 1);
    check_batch(rapt_windows_at(w, 0), 1, CONTEXT, 9, 9 + CONTEXT + 1);
    rapt_windows_free(w);
    rapt_token_file_close(f);
}

/* Each token of the range but its first is a label once; windows follow each other and only the last is shorter. */
static void check_evaluation(const rapt_token_file *f, size_t begin, size_t end, size_t context, size_t batch)
{
    rapt_windows *w = windows_of(f, begin, end, context, batch, 1);
    size_t batches = rapt_windows_batches(w), next = begin;
    for (size_t index = 0; index < batches; index++) {
        const rapt_window_batch *b = rapt_windows_at(w, index);
        assert_true(index + 1 == batches ? b->inputs.batch >= 1 : b->inputs.batch == batch);
        check_batch(b, b->inputs.batch, context, begin, end);
        for (size_t row = 0; row < b->inputs.batch; row++) {
            assert_int_equal(b->starts[row], next);
            assert_int_equal(b->examples[row], index * batch + row);
            next += (size_t)b->valid_lens[row];
            assert_true((size_t)b->valid_lens[row] == context || next == end - 1);
        }
    }
    assert_int_equal(next, end - 1);
    assert_null(rapt_windows_at(w, batches));
    assert_null(rapt_windows_at(w, SIZE_MAX));
    rapt_windows_free(w);
}

static void evaluation_has_each_token_once(void **state)
{
    (void)state;
    rapt_token_file *f = stream_of(60);
    for (size_t context = 1; context <= 6; context++)
        for (size_t batch = 1; batch <= 4; batch++)
            for (size_t length = context + 1; length <= 40; length++) {
                check_evaluation(f, 0, length, context, batch);
                check_evaluation(f, 60 - length, 60, context, batch);
            }
    rapt_token_file_close(f);
}

static void evaluation_goes_in_any_order(void **state)
{
    (void)state;
    rapt_token_file *f = stream_of(60);
    rapt_windows *w = windows_of(f, 8, 60, CONTEXT, BATCH, 1); /* 51 labels: 7 windows of 7, one of 2 */
    const rapt_window_batch *b = rapt_windows_at(w, 2);
    check_batch(b, 2, CONTEXT, 8, 60);
    assert_int_equal(b->starts[0], 8 + 6 * CONTEXT);
    assert_int_equal(b->valid_lens[0], CONTEXT);
    assert_int_equal(b->valid_lens[1], 2);
    b = rapt_windows_at(w, 0);
    check_batch(b, BATCH, CONTEXT, 8, 60);
    assert_int_equal(b->starts[0], 8);
    rapt_windows_free(w);
    rapt_token_file_close(f);
}

static void assert_refused(const rapt_token_file *f, rapt_token_range part, size_t context, size_t batch, rapt_code code,
                           const char *message)
{
    rapt_error err = {0};
    assert_null(rapt_windows_new(f, &part, context, batch, 1, &err));
    assert_int_equal(err.code, code);
    assert_string_equal(err.message, message);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    rapt_token_file *f = stream_of(20);
    assert_refused(f, rapt_token_range_training(f, 0.6), 16, 4, RAPT_ERR_VALUE,
                   "the training split has 12 tokens; a window of 16 needs 17");
    assert_refused(f, rapt_token_range_validation(f, 0.6), 8, 4, RAPT_ERR_VALUE,
                   "the validation split has 8 tokens; a window of 8 needs 9");
    assert_refused(f, rapt_token_range_validation(f, 1), 1, 1, RAPT_ERR_VALUE,
                   "the validation split has 0 tokens; a window of 1 needs 2");
    assert_refused(f, rapt_token_range_all(f), 20, 1, RAPT_ERR_VALUE, "the text has 20 tokens; a window of 20 needs 21");
    assert_refused(f, (rapt_token_range){3, 21, NULL}, 4, 1, RAPT_ERR_VALUE, "the range is tokens 3 to 21, but there are 20");
    assert_refused(f, (rapt_token_range){9, 8, "end"}, 4, 1, RAPT_ERR_VALUE, "the end is tokens 9 to 8, but there are 20");
    assert_refused(f, rapt_token_range_all(f), 0, 4, RAPT_ERR_VALUE, "windows of 0 tokens, 4 at once, are none");
    assert_refused(f, rapt_token_range_all(f), 4, 0, RAPT_ERR_VALUE, "windows of 4 tokens, 0 at once, are none");
    assert_refused(f, rapt_token_range_all(f), SIZE_MAX, 1, RAPT_ERR_VALUE,
                   "a window of 18446744073709551615 tokens is too long");
    assert_refused(f, rapt_token_range_all(f), 4, SIZE_MAX / 2, RAPT_ERR_MEMORY, "out of memory for a batch of windows");
    rapt_token_file_close(f);
}

/* From a file, with ids of two bytes: "hello" is 1 0 2 2 3. Messages begin with its path. */
static void windows_of_a_file(void **state)
{
    (void)state;
    char path[] = "/tmp/rapt-windows-XXXXXX", message[256];
    token_image m = image_of_hello(1);
    int fd = mkstemp(path);
    assert_int_equal(write(fd, m.bytes, m.size), (ssize_t)m.size);
    close(fd);
    rapt_token_file *f = rapt_token_file_open(path, NULL);
    rapt_token_range part = rapt_token_range_all(f);
    rapt_windows *w = rapt_windows_new(f, &part, 4, 2, 1, NULL);
    const rapt_window_batch *b = rapt_windows_random(w, 5);
    assert_memory_equal(b->inputs.ids, ((int32_t[]){1, 0, 2, 2, 1, 0, 2, 2}), 32);
    assert_memory_equal(b->labels.ids, ((int32_t[]){0, 2, 2, 3, 0, 2, 2, 3}), 32);
    snprintf(message, sizeof message, "%s: the text has 5 tokens; a window of 5 needs 6", path);
    assert_refused(f, part, 5, 1, RAPT_ERR_VALUE, message);
    rapt_windows_free(w);
    rapt_windows_free(NULL);
    rapt_token_file_close(f);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_windows_lie_in_the_part),
        cmocka_unit_test(examples_wrap),
        cmocka_unit_test(a_batch_depends_on_seed_and_step_only),
        cmocka_unit_test(starts_are_uniform_and_independent),
        cmocka_unit_test(the_shortest_part_has_one_window),
        cmocka_unit_test(evaluation_has_each_token_once),
        cmocka_unit_test(evaluation_goes_in_any_order),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(windows_of_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
