/* tests/data/test_token_threads.c: token files of texts of many chunks: the same bytes for any number of threads, in memory that
 * does not grow with the text, and a stop in the middle; and learning their tokenizers, in such memory, too. For
 * src/data/tokens/token_make.c, characters_train_file and byte_bpe_train_file; what is cut where is in
 * tests/text/test_encode_run.c.
 * labels: threads */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "data/tokens/token_file.h"
#include "options.h"
#include "text/encode_run.h"
#include "text/tokenizer.h"
#include "token_folder.h"

#include <sys/resource.h>
#include <xxhash.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true /* it keeps what is freed */
#else
#define SANITIZED false
#endif

enum { CHUNKS = 5, LARGE = 48 };

/* Words, long runs, numbers, characters of two to four bytes and marks. */
static char *some_text(size_t size)
{
    static const char *const kinds[] = {
        "the ", "word", "s ", "\n", "e\xCC\x81t\xC3\xA9 ", "\xE4\xB8\xAD\xE6\x96\x87", "2024", ", ", "\xF0\x9F\x98\x80 ",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa ", "          ", "I'll "};
    char *to = malloc(size + 64);
    uint64_t state = 1;
    for (size_t at = 0; at < size;) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const char *piece = kinds[(state >> 33) % (sizeof kinds / sizeof *kinds)];
        memcpy(to + at, piece, strlen(piece));
        at += strlen(piece);
    }
    memset(to + size - 4, '.', 4); /* no half of a character at the end */
    return to;
}

static rapt_tokenizer *train(const char *bytes, rapt_normalization normalization)
{
    rapt_bpe_options o = TRAIN_BPE(.vocab_size = 400, .threads = 1, .normalization = normalization);
    rapt_tokenizer *k = rapt_tokenizer_train_bpe(bytes, 20000, &o, NULL);
    assert_non_null(k);
    return k;
}

static void check_ids(const rapt_tokenizer *k, const char *bytes, size_t size)
{
    int32_t *wanted, *found;
    size_t count;
    assert_int_equal(rapt_tokenizer_encode_bytes(k, bytes, size, NULL, &wanted, &count, NULL), RAPT_OK);
    rapt_token_file *f = rapt_token_file_open(out, NULL);
    assert_non_null(f);
    assert_int_equal(rapt_token_file_count(f), count);
    found = malloc(count * sizeof *found);
    rapt_token_file_ids(f, 0, count, found);
    assert_memory_equal(found, wanted, count * sizeof *found);
    assert_int_equal(f->header.text_hash, XXH3_64bits(bytes, size));
    assert_int_equal(f->header.text_bytes, size);
    rapt_token_file_close(f);
    free(found);
    free(wanted);
}

/* The file of one thread is compared with the ids, the others with that file. */
static void check_threads(rapt_tokenizer *k, const char *bytes, size_t size)
{
    static const char *const threads[] = {"1", "2", "3", "7"};
    char *first = NULL, *again;
    size_t first_size = 0, again_size;
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        setenv("RAPT_THREADS", threads[i], 1);
        unlink(out);
        assert_made(k);
        if (i == 0)
            check_ids(k, bytes, size);
        assert_int_equal(file_read(out, SIZE_MAX, &again, &again_size, NULL), RAPT_OK);
        if (i > 0) {
            assert_int_equal(again_size, first_size);
            assert_memory_equal(again, first, first_size);
        }
        free(i > 0 ? again : NULL);
        first = i > 0 ? first : again;
        first_size = again_size;
    }
    unsetenv("RAPT_THREADS");
    free(first);
    rapt_tokenizer_free(k);
}

static void any_number_of_threads_makes_the_same_file(void **state)
{
    (void)state;
    size_t size = CHUNKS * ENCODE_CHUNK + 1234;
    char *bytes = some_text(size);
    const char *lines[] = {"the words I'll", "word 2024"};
    put(text, bytes, size);
    check_threads(train(bytes, RAPT_NORMALIZATION_NONE), bytes, size);
    check_threads(train(bytes, RAPT_NORMALIZATION_NFC), bytes, size);
    check_threads(train(bytes, RAPT_NORMALIZATION_PLAIN_LOWERCASE), bytes, size);
    check_threads(rapt_tokenizer_train_characters(bytes, size, NULL), bytes, size);
    check_threads(rapt_tokenizer_train_words(lines, 2, NULL, NULL), bytes, size);
    free(bytes);
}

static size_t peak_mb(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (size_t)use.ru_maxrss >> 10;
}

static void put_large(const char *bytes)
{
    FILE *file = fopen(text, "wb");
    for (size_t i = 0; i < LARGE; i++)
        assert_int_equal(fwrite(bytes, 1, 1 << 20, file), 1 << 20);
    fclose(file);
}

/* Pages of files that are mapped. */
static size_t mapped_mb(void)
{
    size_t all, here, mapped = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%zu %zu %zu", &all, &here, &mapped), 3);
    fclose(file);
    return mapped * (size_t)sysconf(_SC_PAGESIZE) >> 20;
}

/* As training does, and validation, which counts bytes. */
static void read_windows(const rapt_token_file *f, const rapt_tokenizer *k)
{
    const rapt_token_range all = rapt_token_range_all(f);
    rapt_windows *w = rapt_windows_new(f, &all, 64, 8, 1, NULL);
    assert_non_null(w);
    const size_t before = mapped_mb();
    for (uint64_t step = 0; step < 200; step++)
        assert_non_null(rapt_windows_random(w, step));
    assert_true(mapped_mb() < before + LARGE / 6);
    assert_true(rapt_token_file_bytes(f, k, all.begin, all.end) > 0);
    assert_true(mapped_mb() < before + LARGE / 6);
    rapt_windows_free(w);
}

/* A text of 48 MB, whose tokens have about as many bytes. */
static void memory_does_not_grow_with_the_text(void **state)
{
    (void)state;
    static const rapt_normalization normalizations[] = {RAPT_NORMALIZATION_NONE, RAPT_NORMALIZATION_NFC};
    if (SANITIZED)
        skip();
    char *bytes = some_text(1 << 20);
    put_large(bytes);
    setenv("RAPT_THREADS", "2", 1);
    for (size_t i = 0; i < 2; i++) {
        rapt_tokenizer *k = train(bytes, normalizations[i]);
        size_t before = peak_mb();
        assert_made(k);
        rapt_token_file *f = rapt_token_file_ensure(k, text, out, NULL);
        assert_non_null(f);
        assert_true(peak_mb() - before < LARGE / 2);
        read_windows(f, k);
        rapt_token_file_close(f);
        rapt_tokenizer_free(k);
        unlink(out);
    }
    unsetenv("RAPT_THREADS");
    free(bytes);
}

/* Learns from the file `text`. */
static rapt_tokenizer *learn(bool pairs)
{
    file_map file;
    const rapt_bpe_options o = TRAIN_BPE(.vocab_size = 400, .threads = 2);
    assert_int_equal(file_map_open(&file, text, NULL), RAPT_OK);
    rapt_tokenizer *k = pairs ? byte_bpe_train_file(&file, file.size, &o, NULL) : characters_train_file(&file, NULL);
    assert_non_null(k);
    file_map_close(&file);
    return k;
}

/* The text has 48 MB, and all of it is in the system's cache: mapped pages count as memory. */
static void memory_of_learning_does_not_grow_with_the_text(void **state)
{
    (void)state;
    if (SANITIZED)
        skip();
    char *bytes = some_text(1 << 20);
    put_large(bytes);
    for (int pairs = 0; pairs < 2; pairs++) {
        size_t before = peak_mb();
        rapt_tokenizer_free(learn(pairs));
        assert_true(peak_mb() - before < LARGE / 2);
    }
    free(bytes);
}

static void a_mapped_text_teaches_the_same(void **state)
{
    (void)state;
    size_t size = (1 << 20) + 1234;
    char *bytes = some_text(size);
    const rapt_bpe_options o = TRAIN_BPE(.vocab_size = 400, .threads = 2);
    put(text, bytes, size);
    for (int pairs = 0; pairs < 2; pairs++) {
        rapt_tokenizer *mapped = learn(pairs), *k = pairs ? rapt_tokenizer_train_bpe(bytes, size, &o, NULL)
                                                          : rapt_tokenizer_train_characters(bytes, size, NULL);
        assert_non_null(k);
        assert_int_equal(rapt_tokenizer_hash(mapped), rapt_tokenizer_hash(k));
        rapt_tokenizer_free(mapped);
        rapt_tokenizer_free(k);
    }
    free(bytes);
}

static bool stop_at_third(void *context)
{
    return ++*(int *)context == 3;
}

static void a_stop_in_the_middle_leaves_nothing(void **state)
{
    (void)state;
    size_t size = 12 * ENCODE_CHUNK;
    char *bytes = some_text(size);
    rapt_tokenizer *k = train(bytes, RAPT_NORMALIZATION_NFC);
    put(text, bytes, size);
    for (int threads = 1; threads <= 2; threads++) {
        int asked = 0;
        bool made;
        file_writer writer;
        rapt_error err = {0};
        assert_null(token_file_draft(k, (token_place){text, text}, out,
                                     (token_options){.threads = threads, .stop = {stop_at_third, &asked}}, &writer, &made, &err));
        assert_int_equal(err.code, RAPT_ERR_INTERRUPTED);
        assert_string_equal(err.message, "stopped");
        assert_false(made);
        assert_int_equal(asked, 3);
        assert_int_equal(folder_entries(folder_path), 1);
    }
    rapt_tokenizer_free(k);
    free(bytes);
}

static void a_wrong_number_of_threads_is_reported(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_tokenizer *k = characters_of("hello");
    put_text("hello");
    setenv("RAPT_THREADS", "many", 1);
    assert_int_equal(rapt_token_file_make(k, text, out, &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "RAPT_THREADS is 'many'"));
    unsetenv("RAPT_THREADS");
    rapt_tokenizer_free(k);
}

#define TEST(name) cmocka_unit_test_teardown(name, remove_files)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(memory_of_learning_does_not_grow_with_the_text), /* first: the peak is the whole process's */
        TEST(memory_does_not_grow_with_the_text),
        TEST(a_mapped_text_teaches_the_same),
        TEST(any_number_of_threads_makes_the_same_file),
        TEST(a_stop_in_the_middle_leaves_nothing),
        TEST(a_wrong_number_of_threads_is_reported),
    };
    return cmocka_run_group_tests(tests, make_folder, folder_remove);
}
