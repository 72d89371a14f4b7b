/* tests/text/test_encode_run.c: long texts to ids on threads: for every tokenizer, number of threads and size of chunks, the ids
 * equal rapt_tokenizer_encode_to's, or the failure is the same. For src/text/encode_run.c and bpe/bpe_threads.c.
 * labels: threads */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/rng.h"
#include "folder.h"
#include "options.h"
#include "text/encode_run.h"
#include "text/split/split.h"

#ifdef __SANITIZE_THREAD__ /* each takes some ten times as long */
enum { ROUNDS = 1, ROOM = 3000, LONGEST = 800 };
#elif defined(__SANITIZE_ADDRESS__)
enum { ROUNDS = 2, ROOM = 3000, LONGEST = ROOM - 200 };
#else
enum { ROUNDS = 6, ROOM = 3000, LONGEST = ROOM - 200 };
#endif

static const int THREADS[] = {1, 2, 3, 7};
static const size_t CHUNKS[] = {1, 2, 7, 33, 250, 1000};

/* What random texts are made of: pieces of all kinds, halves of characters, marks that go with what is before them, special
 * tokens and what only looks like one, white space of all kinds. */
static const char *const PARTS[] = {
    "a", "the", "Hello", " world", "I'll", "'s", "'", "1", "2024", "31415926535897932384626433", " ", "  ", "\n", "\r\n", "\t",
    ".", "...", "!?", "e\xCC\x81", "\xCC\x81", "\xC3\xA9", "\xEF\xBC\xA1", "\xE4\xB8\xAD\xE6\x96\x87",
    "\xE1\x84\x80\xE1\x85\xA1", "\xE1\x86\xA8", "\xEA\xB0\x80", "\xE3\x81\x8B\xE3\x82\x99", "\xF0\x9F\x98\x80", "\xC2\xA0",
    "\xE2\x80\x99", "\xE2\x80\xA8", "\xFF", "\xE4\xB8", "\x80", "\xF0\x9F", "<|a|>", "<|a|", "<|", "<|a|>b<|c|>", "x<<y",
    "<pad>", "<eos>x", "<unk",
    "ffi \xEF\xAC\x83", "\xD0\xB6\xD0\x96",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "                                                                                        ", "\n\n\n\n\n\n\n\n\n\n\n\n"};
#define PART_COUNT (sizeof PARTS / sizeof *PARTS)

typedef struct stream {
    uint64_t state;
} stream;

static size_t below(stream *s, size_t n)
{
    s->state = rng_mix(s->state, 0x9E3779B97F4A7C15u);
    return (size_t)(s->state >> 11) % n;
}

/* Parts of `kinds` of all kinds: with few of them there are long runs, and many texts that are UTF-8. */
static size_t random_text(stream *s, char *text)
{
    size_t kinds = 1 + below(s, PART_COUNT), first = below(s, PART_COUNT), wanted = 1 + below(s, LONGEST), size = 0;
    while (size < wanted) {
        const char *piece = PARTS[(first + below(s, kinds)) % PART_COUNT];
        size_t length = strlen(piece);
        memcpy(text + size, piece, length);
        size += length;
    }
    return size;
}

typedef struct ids {
    int32_t *list;
    size_t count, capacity;
    size_t passed, size; /* bytes of the text */
} ids;

static rapt_code collect(void *context, const int32_t *list, size_t count, rapt_error *err)
{
    ids *to = context;
    (void)err;
    assert_true(ARRAY_RESERVE(&to->list, &to->capacity, to->count + count));
    if (count > 0) /* else there may be no list */
        memcpy(to->list + to->count, list, count * sizeof *list);
    to->count += count;
    return RAPT_OK;
}

/* None of the text is left out on the way. */
static void note_passed(void *context, size_t begin, size_t end)
{
    ids *to = context;
    assert_true(begin <= end && end <= to->size);
    assert_true(begin <= to->passed);
    to->passed = end > to->passed ? end : to->passed;
}

static const char *beside; /* of encode_run */

static rapt_code on_threads(const rapt_tokenizer *k, const char *text, size_t size, bool specials, pool *p, size_t chunk,
                            ids *out, rapt_error *err)
{
    const encode_run run = {.text = text, .size = size, .chunk = chunk, .specials = specials, .pool = p, .beside = beside,
                            .sink = collect, .passed = note_passed, .context = out};
    out->count = out->passed = 0;
    out->size = size;
    return encode_run_all(k, &run, err);
}

static void show(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        print_message("\\x%02X", (unsigned char)text[i]);
    print_message("\n");
}

/* What a whole text gives, as one. No tokenizer here puts ids before or after it. */
static void compare(const rapt_tokenizer *k, const char *name, const char *text, size_t size, bool specials, pool *p,
                    size_t chunk)
{
    ids one = {0}, all = {0};
    rapt_error one_err = {0}, all_err = {0};
    rapt_code code = rapt_tokenizer_encode_bytes(k, text, size, &ENCODE(.specials = specials), &one.list, &one.count, &one_err);
    rapt_code found = on_threads(k, text, size, specials, p, chunk, &all, &all_err);
    bool same = code == found && strcmp(one_err.message, all_err.message) == 0;
    if (same && code == RAPT_OK)
        same = one.count == all.count && (one.count == 0 || memcmp(one.list, all.list, one.count * sizeof *one.list) == 0) &&
               all.passed == size;
    if (!same) {
        show(text, size);
        fail_msg("%s: %d threads, chunks of %zu: %zu ids (%s) instead of %zu (%s), %zu of %zu bytes", name, pool_threads(p),
                 chunk, all.count, all_err.message, one.count, one_err.message, all.passed, size);
    }
    free(one.list);
    free(all.list);
}

/* On texts of all PARTS, random ones, and one that is cut at any byte. */
static void try_tokenizer(rapt_tokenizer *k, const char *name)
{
    char *text = malloc(ROOM);
    assert_non_null(k);
    for (size_t t = 0; t < sizeof THREADS / sizeof *THREADS; t++) {
        pool *p = pool_new(THREADS[t], NULL);
        stream s = {77 + t};
        for (size_t round = 0; round < ROUNDS; round++) {
            size_t size = random_text(&s, text);
            for (size_t c = 0; c < sizeof CHUNKS / sizeof *CHUNKS; c++)
                for (int specials = 0; specials < 2; specials++)
                    compare(k, name, text, size, specials, p, CHUNKS[c]);
        }
        pool_free(p);
    }
    free(text);
    rapt_tokenizer_free(k);
}

static char *all_parts(size_t *size)
{
    char *text = malloc(4 * ROOM);
    *size = 0;
    for (size_t i = 0; i < 3 * PART_COUNT; i++) {
        const char *piece = PARTS[i * 7 % PART_COUNT];
        memcpy(text + *size, piece, strlen(piece));
        *size += strlen(piece);
    }
    return text;
}

static rapt_tokenizer *bpe(const char *pattern, rapt_normalization normalization)
{
    static const char *const specials[] = {"<|a|>", "<|c|>"};
    rapt_error err = {0};
    size_t size;
    char *text = all_parts(&size);
    rapt_bpe_options o = TRAIN_BPE(.vocab_size = 330, .specials = specials, .special_count = 2, .pattern = pattern, .threads = 1,
                          .normalization = normalization);
    rapt_tokenizer *k = rapt_tokenizer_train_bpe(text, size, &o, &err);
    assert_string_equal(err.message, "");
    free(text);
    return k;
}

static void characters_and_words(void **state)
{
    (void)state;
    static const char some[] = "athe Helowrd'Is12034.\n\r\t!?\xC3\xA9\xE4\xB8\xAD\xE6\x96\x87\xF0\x9F\x98\x80";
    rapt_words_options o = TRAIN_WORDS(.min_freq = 1);
    try_tokenizer(rapt_tokenizer_train_characters(some, strlen(some), NULL), "characters");
    const rapt_characters_options lines_of = TRAIN_CHARACTERS(.specials_first = true);
    try_tokenizer(rapt_tokenizer_train_characters_with(some, strlen(some), &lines_of, NULL), "characters of lines");
    const char *lines[] = {"the Hello world", "Hello aaa 1"};
    try_tokenizer(rapt_tokenizer_train_words(lines, 2, &o, NULL), "words");
}

static void known_patterns(void **state)
{
    (void)state;
    try_tokenizer(bpe(SPLIT_GPT2, RAPT_NORMALIZATION_NONE), "gpt2");
    try_tokenizer(bpe(SPLIT_CL100K, RAPT_NORMALIZATION_NONE), "cl100k");
    try_tokenizer(bpe(SPLIT_O200K, RAPT_NORMALIZATION_NONE), "o200k");
}

/* That look back, or far ahead, or whose pieces come in pairs that a guess can get wrong for good. */
static void other_patterns(void **state)
{
    (void)state;
    static const char *const patterns[] = {"[\\s\\S]{1,3}", "\\S+|\\s+", "(?<=a)b|.|\\n", "(?<![0-9])[0-9]{2}|.", "[\\s\\S]+",
                                           "^[^\\n]*\\n|[^\\n]+", "a(?=.*z)|[a-z]+|[^a-z]", " ?[^ ]{1,3}| +(?! )"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        try_tokenizer(bpe(patterns[i], RAPT_NORMALIZATION_NONE), patterns[i]);
}

static void normalized_texts(void **state)
{
    (void)state;
    char path[FOLDER_ROOM];
    strcpy(path, folder_in("out.tokens"));
    for (int i = 0; i < 2; i++) {
        beside = i ? path : NULL;
        try_tokenizer(bpe(SPLIT_GPT2, RAPT_NORMALIZATION_NFC), "nfc");
        try_tokenizer(bpe(SPLIT_CL100K, RAPT_NORMALIZATION_PLAIN), "plain");
        try_tokenizer(bpe(SPLIT_O200K, RAPT_NORMALIZATION_PLAIN_LOWERCASE), "plain_lowercase");
        try_tokenizer(bpe("(?<=a)b|.|\\n", RAPT_NORMALIZATION_PLAIN), "plain, looking back");
    }
    assert_int_equal(folder_entries(folder_path), 0); /* no temporary file is left */
    beside = NULL;
}

/* As a tokenizer.json has them with "special": false. */
static rapt_tokenizer *with_always(const char *pattern, rapt_normalization normalization)
{
    char path[FOLDER_ROOM], *json, *at;
    size_t size;
    rapt_error err = {0};
    rapt_tokenizer *k = bpe(pattern, normalization);
    strcpy(path, folder_in("tokenizer.json"));
    assert_int_equal(rapt_tokenizer_save(k, path, NULL), RAPT_OK);
    rapt_tokenizer_free(k);
    assert_int_equal(file_read(path, SIZE_MAX, &json, &size, NULL), RAPT_OK);
    static const char yes[] = "\"special\": true", no[] = "\"special\":false";
    size_t changed = 0;
    for (; (at = strstr(json, yes)) != NULL; changed++)
        memcpy(at, no, sizeof no - 1);
    assert_int_equal(changed, 2);
    assert_int_equal(file_write_atomic(path, json, size, NULL), RAPT_OK);
    free(json);
    k = rapt_tokenizer_load(path, &err);
    assert_string_equal(err.message, "");
    unlink(path);
    return k;
}

static void special_tokens_that_are_always_found(void **state)
{
    (void)state;
    char path[FOLDER_ROOM];
    strcpy(path, folder_in("out.tokens"));
    rapt_tokenizer *k = with_always(SPLIT_GPT2, RAPT_NORMALIZATION_NONE);
    int32_t *list, id = rapt_tokenizer_special(k, "<|a|>");
    size_t count;
    assert_int_equal(rapt_tokenizer_encode_bytes(k, "<|a|>", 5, NULL, &list, &count, NULL), RAPT_OK);
    assert_int_equal(count, 1); /* or this would test nothing */
    assert_int_equal(list[0], id);
    free(list);
    try_tokenizer(k, "always, gpt2");
    try_tokenizer(with_always("(?<=a)b|.|\\n", RAPT_NORMALIZATION_NONE), "always, looking back");
    try_tokenizer(with_always(SPLIT_CL100K, RAPT_NORMALIZATION_NFC), "always, nfc");
    beside = path;
    try_tokenizer(with_always(SPLIT_GPT2, RAPT_NORMALIZATION_NFC), "always, nfc, file");
    beside = NULL;
}

/* One piece of many chunks; and the ids of all that is around it. */
static void a_long_run(void **state)
{
    (void)state;
    static const char runs[] = "a \n1!";
    size_t size = 3 * ENCODE_CHUNK + 100;
    char *text = malloc(size);
    rapt_tokenizer *k = bpe(SPLIT_CL100K, RAPT_NORMALIZATION_NONE);
    pool *p = pool_new(3, NULL);
    for (const char *run = runs; *run; run++) {
        memset(text, *run, size);
        memcpy(text, "Hello world", 11);
        memcpy(text + size - 12, " Hello world", 12);
        compare(k, "run", text, size, true, p, ENCODE_CHUNK);
    }
    pool_free(p);
    rapt_tokenizer_free(k);
    free(text);
}

typedef struct countdown {
    int left;
} countdown;

static bool stop_later(void *context)
{
    return ((countdown *)context)->left-- == 0;
}

static rapt_code discard(void *context, const int32_t *list, size_t count, rapt_error *err)
{
    (void)context, (void)list, (void)count, (void)err;
    return RAPT_OK;
}

static rapt_code refuse(void *context, const int32_t *list, size_t count, rapt_error *err)
{
    (void)context, (void)list, (void)count;
    return rapt_fail(err, RAPT_ERR_IO, "the disk is full");
}

static void stops_and_failing_sinks(void **state)
{
    (void)state;
    char *text = malloc(ROOM);
    memset(text, 'a', ROOM);
    for (size_t i = 3; i < ROOM; i += 4)
        text[i] = ' ';
    rapt_tokenizer *k = bpe(SPLIT_GPT2, RAPT_NORMALIZATION_NONE);
    for (size_t t = 0; t < sizeof THREADS / sizeof *THREADS; t++) {
        pool *p = pool_new(THREADS[t], NULL);
        countdown c = {3};
        rapt_error err = {0};
        encode_run run = {.text = text, .size = ROOM, .chunk = 16, .pool = p, .stop = {stop_later, &c}, .sink = discard};
        assert_int_equal(encode_run_all(k, &run, &err), RAPT_ERR_INTERRUPTED);
        run.stop = (stop_check){0};
        run.sink = refuse;
        err = (rapt_error){0};
        assert_int_equal(encode_run_all(k, &run, &err), RAPT_ERR_IO);
        assert_string_equal(err.message, "the disk is full");
        pool_free(p);
    }
    rapt_tokenizer_free(k);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_and_words),
        cmocka_unit_test(known_patterns),
        cmocka_unit_test(other_patterns),
        cmocka_unit_test_setup_teardown(normalized_texts, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(special_tokens_that_are_always_found, folder_make, folder_remove),
        cmocka_unit_test(a_long_run),
        cmocka_unit_test(stops_and_failing_sinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
