/* tokenizer_files.h: what the tests of tokenizers share: files in a folder of their own, and short forms for encoding.
 * For test_tokenizer*.c, which include cmocka.h before, and have folder_make and folder_remove about their group. */
#ifndef TESTS_TOKENIZER_FILES_H
#define TESTS_TOKENIZER_FILES_H

#include "rapt/text.h"

#include "folder.h"
#include "options.h"

#include <string.h>

static inline const char *write_file(const char *name, const void *bytes, size_t size)
{
    const char *path = folder_in(name);
    FILE *file = fopen(path, "wb");
    assert_true(file && fwrite(bytes, 1, size, file) == size);
    fclose(file);
    return path;
}

static inline rapt_tokenizer *load(const char *spec)
{
    rapt_error err = {0};
    rapt_tokenizer *k = rapt_tokenizer_load(spec, &err);
    if (!k)
        fail_msg("%s", err.message);
    return k;
}

/* A file with this text is refused, in one line that has `message` in it. */
static inline void assert_refused(const char *spec, const char *message)
{
    rapt_error err = {0};
    assert_null(rapt_tokenizer_load(spec, &err));
    assert_int_not_equal(err.code, RAPT_OK);
    if (!strstr(err.message, message) || strchr(err.message, '\n'))
        fail_msg("\"%s\" has no \"%s\"", err.message, message);
}

static inline void assert_encodes(const rapt_tokenizer *k, const char *text, size_t size, bool specials,
                                  const int32_t *want, size_t want_count)
{
    int32_t *ids;
    size_t count;
    rapt_error err = {0};
    if (rapt_tokenizer_encode_bytes(k, text, size, &ENCODE(.specials = specials), &ids, &count, &err) != RAPT_OK)
        fail_msg("%s", err.message);
    bool same = count == want_count && (count == 0 || memcmp(ids, want, count * sizeof *ids) == 0);
    if (!same) {
        print_message("\"%.60s\" gives", text);
        for (size_t i = 0; i < count && i < 40; i++)
            print_message(" %d", ids[i]);
        print_message("\n");
    }
    free(ids);
    assert_true(same);
}

/* ENCODES(k, "text", ids...) without special tokens; SPECIALS with them. */
#define IDS(...) ((const int32_t[]){__VA_ARGS__}), sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t)
#define ENCODES(k, text, ...) assert_encodes(k, text, sizeof(text) - 1, false, IDS(__VA_ARGS__))
#define SPECIALS(k, text, ...) assert_encodes(k, text, sizeof(text) - 1, true, IDS(__VA_ARGS__))

static inline void assert_decodes(const rapt_tokenizer *k, const int32_t *ids, size_t count, const char *want, size_t size)
{
    size_t got_size;
    char *got = rapt_tokenizer_decode(k, ids, count, &got_size);
    assert_non_null(got);
    assert_int_equal(got_size, size);
    assert_int_equal(got[size], '\0');
    assert_true(size == 0 || memcmp(got, want, size) == 0);
    free(got);
}

#define DECODES(k, text, ...) assert_decodes(k, IDS(__VA_ARGS__), text, sizeof(text) - 1)

/* Bytes come back as they were. */
static inline void assert_round_trip(const rapt_tokenizer *k, const char *text, size_t size, bool specials)
{
    int32_t *ids;
    size_t count;
    assert_int_equal(rapt_tokenizer_encode_bytes(k, text, size, &ENCODE(.specials = specials), &ids, &count, NULL), RAPT_OK);
    assert_decodes(k, ids, count, text, size);
    free(ids);
}

/* What is saved and loaded again is the same tokenizer. */
static inline void assert_saves(const rapt_tokenizer *k)
{
    rapt_error err = {0};
    const char *path = folder_in("saved.json");
    if (rapt_tokenizer_save(k, path, &err) != RAPT_OK)
        fail_msg("%s", err.message);
    rapt_tokenizer *again = load(path);
    assert_true(rapt_tokenizer_hash(again) == rapt_tokenizer_hash(k));
    assert_int_equal(rapt_tokenizer_size(again), rapt_tokenizer_size(k));
    assert_int_equal(rapt_tokenizer_kind_of(again), rapt_tokenizer_kind_of(k));
    rapt_tokenizer_free(again);
}

#endif
