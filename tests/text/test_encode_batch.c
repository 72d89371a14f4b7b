/* tests/text/test_encode_batch.c: many texts at once have the ids that each has alone, for any number of threads; tokenizers
 * that went through memory are the same.
 * labels: threads */
#define _GNU_SOURCE /* strdup, setenv */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "options.h"
#include "rapt/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXTS = 1200, LENGTH = 90 };

static const char ABOUT[] = "the cat sat on the mat, and the other cat sat on the hat\n"
                            "that the cat had sat on before the rain came\n";

static rapt_tokenizer *byte_pairs(void)
{
    rapt_error err = {0};
    const rapt_bpe_options o = TRAIN_BPE(.vocab_size = 280, .threads = 1);
    rapt_tokenizer *k = rapt_tokenizer_train_bpe(ABOUT, strlen(ABOUT), &o, &err);
    if (!k)
        fail_msg("%s", err.message);
    return k;
}

static rapt_tokenizer *words(void)
{
    static const char *const lines[] = {"the cat sat on the mat", "the rain came"};
    rapt_tokenizer *k = rapt_tokenizer_train_words(lines, 2, NULL, NULL);
    assert_non_null(k);
    return k;
}

static rapt_tokenizer *characters(void)
{
    rapt_tokenizer *k = rapt_tokenizer_train_characters(ABOUT, strlen(ABOUT), NULL);
    assert_non_null(k);
    return k;
}

/* Pieces of ABOUT of all lengths, some of them empty; the first bytes of some are NUL if `nul`. */
static void make_texts(char (*memory)[LENGTH], rapt_text *texts, bool nul)
{
    for (size_t i = 0; i < TEXTS; i++) {
        const size_t size = i % LENGTH, from = i * 7 % (sizeof ABOUT - LENGTH);
        memcpy(memory[i], ABOUT + from, size);
        if (nul && size > 2 && i % 3 == 0)
            memory[i][1] = '\0';
        texts[i] = (rapt_text){size > 0 ? memory[i] : NULL, size};
    }
}

static void assert_batch(const rapt_tokenizer *k, const rapt_text *texts, size_t count, int threads)
{
    int32_t *ids;
    size_t *starts;
    rapt_error err = {0};
    rapt_tokenizer_encode_batch(k, texts, count, &ENCODE(.specials = true, .threads = threads), &ids, &starts, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(starts[0], 0);
    for (size_t i = 0; i < count; i++) {
        int32_t *alone;
        size_t n;
        const rapt_text t = texts[i];
        const rapt_encode_options o = ENCODE(.specials = true);
        assert_int_equal(rapt_tokenizer_encode_bytes(k, t.size ? t.data : "", t.size, &o, &alone, &n, NULL), RAPT_OK);
        assert_int_equal(starts[i + 1] - starts[i], n);
        assert_memory_equal(ids + starts[i], alone, n * sizeof *ids);
        free(alone);
    }
    free(ids);
    free(starts);
}

static void batches_are_their_texts(void **state)
{
    (void)state;
    static char memory[TEXTS][LENGTH];
    static rapt_text texts[TEXTS];
    rapt_tokenizer *const list[] = {byte_pairs(), words(), characters()};
    for (size_t i = 0; i < 3; i++) {
        make_texts(memory, texts, i == 0);
        for (int threads = 1; threads < 5; threads++)
            assert_batch(list[i], texts, TEXTS, threads);
        for (size_t count = 1022; count < 1027; count++) /* about the number from which groups have several texts */
            assert_batch(list[i], texts, count, 7);
        assert_batch(list[i], texts, 1, 2);
        assert_batch(list[i], texts, 0, 0);
        rapt_tokenizer_free(list[i]);
    }
}

static void the_first_failure_is_told(void **state)
{
    (void)state;
    static char memory[TEXTS][LENGTH];
    static rapt_text texts[TEXTS];
    int32_t *ids;
    size_t *starts, none;
    rapt_tokenizer *k = characters();
    make_texts(memory, texts, false);
    texts[1100] = texts[700] = (rapt_text){"cat\xff", 4};
    texts[900] = (rapt_text){"Z", 1};
    for (int threads = 1; threads < 4; threads++) {
        rapt_error alone = {0}, err = {0};
        char message[600];
        rapt_tokenizer_encode_bytes(k, "cat\xff", 4, NULL, &ids, &none, &alone);
        snprintf(message, sizeof message, "text 701: %s", alone.message);
        const rapt_encode_options o = ENCODE(.threads = threads);
        assert_int_equal(rapt_tokenizer_encode_batch(k, texts, TEXTS, &o, &ids, &starts, &err), RAPT_ERR_FORMAT);
        assert_string_equal(err.message, message);
        assert_null(ids);
        assert_null(starts);
    }
    assert_int_equal(rapt_tokenizer_encode_batch(k, texts, TEXTS, &ENCODE(.threads = 257), &ids, &starts, NULL), RAPT_ERR_VALUE);
    assert_int_equal(rapt_tokenizer_encode_batch(k, texts, 1, &ENCODE(.threads = -1), &ids, &starts, NULL), RAPT_ERR_VALUE);
    rapt_tokenizer_free(k);
}

/* More texts than the loop has chunks: each chunk has several. */
static void chunks_of_several_texts(void **state)
{
    (void)state;
    enum { MANY = 2 * 65536 + 5 };
    static const char *const pieces[] = {"the cat", "", "that the hat sat on", "rain"};
    rapt_text *texts = malloc(MANY * sizeof *texts);
    rapt_tokenizer *k = characters();
    assert_non_null(texts);
    for (size_t i = 0; i < MANY; i++)
        texts[i] = (rapt_text){pieces[i * 7 % 4], strlen(pieces[i * 7 % 4])};
    for (int threads = 1; threads < 4; threads++)
        assert_batch(k, texts, MANY, threads);
    rapt_tokenizer_free(k);
    free(texts);
}

static void a_wrong_environment_is_reported(void **state)
{
    (void)state;
    int32_t *ids;
    size_t *starts;
    rapt_error err = {0};
    const rapt_text text = {"cat", 3};
    const char *before = getenv("RAPT_THREADS");
    char *kept = before ? strdup(before) : NULL;
    rapt_tokenizer *k = characters();
    assert_int_equal(setenv("RAPT_THREADS", "many", 1), 0);
    assert_int_equal(rapt_tokenizer_encode_batch(k, &text, 1, NULL, &ids, &starts, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "RAPT_THREADS is 'many'; it must be a whole number from 1 to 256");
    assert_batch(k, &text, 1, 2); /* which does not ask */
    assert_int_equal(kept ? setenv("RAPT_THREADS", kept, 1) : unsetenv("RAPT_THREADS"), 0);
    free(kept);
    rapt_tokenizer_free(k);
}

static void through_memory(void **state)
{
    (void)state;
    rapt_tokenizer *const list[] = {byte_pairs(), words(), characters()};
    for (size_t i = 0; i < 3; i++) {
        char *bytes;
        size_t size;
        rapt_error err = {0};
        assert_int_equal(rapt_tokenizer_save_bytes(list[i], &bytes, &size, &err), RAPT_OK);
        assert_int_equal(strlen(bytes), size);
        char *exact = malloc(size); /* nothing behind it is read */
        assert_non_null(exact);
        memcpy(exact, bytes, size);
        rapt_tokenizer *again = rapt_tokenizer_load_bytes(exact, size, &err);
        assert_string_equal(err.message, "");
        free(exact);
        assert_int_equal(rapt_tokenizer_kind_of(again), rapt_tokenizer_kind_of(list[i]));
        assert_true(rapt_tokenizer_hash(again) == rapt_tokenizer_hash(list[i]));
        free(bytes);
        rapt_tokenizer_free(again);
        rapt_tokenizer_free(list[i]);
    }
    rapt_error err = {0};
    assert_null(rapt_tokenizer_load_bytes("{\"a\": 1}", 8, &err));
    assert_string_equal(err.message, "tokenizer: not a tokenizer file");
    err = (rapt_error){0};
    assert_null(rapt_tokenizer_load_bytes(NULL, 0, &err));
    assert_int_equal(err.code, RAPT_ERR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(batches_are_their_texts), cmocka_unit_test(the_first_failure_is_told),
                                       cmocka_unit_test(chunks_of_several_texts),
                                       cmocka_unit_test(a_wrong_environment_is_reported),
                                       cmocka_unit_test(through_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
