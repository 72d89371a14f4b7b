/* tests/data/test_token_make.c: token files from texts: what is written, what cannot be, and what is never overwritten.
 * For src/data/tokens/token_make.c. When a file is made again is in test_token_ensure.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "options.h"
#include "token_folder.h"
#include "token_image.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void hello_is_what_it_is_by_hand(void **state)
{
    (void)state;
    rapt_tokenizer *k = characters_of("hello");
    token_image m = image_of_hello(rapt_tokenizer_hash(k));
    image_put(&m, 8, 2, 2); /* the version of texts in which special tokens are tokens */
    image_seal(&m);
    unsigned char bytes[IMAGE_ROOM];
    put_text("hello");
    assert_made(k);
    FILE *file = fopen(out, "rb");
    assert_int_equal(fread(bytes, 1, sizeof bytes, file), m.size);
    fclose(file);
    assert_memory_equal(bytes, m.bytes, m.size);
    rapt_tokenizer_free(k);
}

/* The first `count` code points from U+0100 on, surrogates left out, in UTF-8. */
static char *many_characters(size_t count)
{
    char *line = malloc(4 * count + 1), *to = line;
    for (uint32_t code = 0x100; count > 0; code++) {
        if (code >= 0xD800 && code < 0xE000)
            continue;
        int bytes = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        for (int i = bytes - 1; i > 0; i--)
            to[i] = (char)(0x80 | (code >> 6 * (bytes - 1 - i) & 0x3F));
        to[0] = (char)((0xF00 >> bytes & 0xFF) | code >> 6 * (bytes - 1));
        to += bytes;
        count--;
    }
    *to = '\0';
    return line;
}

/* Ids go by the codes, so the text of all characters is 0 1 2 ... */
static void check_width(size_t vocab, size_t width)
{
    char *line = many_characters(vocab);
    rapt_tokenizer *k = characters_of(line);
    struct stat info;
    int32_t *ids = malloc(vocab * sizeof *ids);
    put_text(line);
    assert_made(k);
    assert_int_equal(stat(out, &info), 0);
    assert_int_equal(info.st_size, 64 + vocab * width);
    rapt_token_file *f = rapt_token_file_open(out, NULL);
    assert_int_equal(rapt_token_file_count(f), vocab);
    assert_int_equal(rapt_token_file_vocab(f), vocab);
    assert_int_equal(rapt_token_file_max_id(f), vocab - 1);
    rapt_token_file_ids(f, 0, vocab, ids);
    for (size_t i = 0; i < vocab; i++)
        assert_int_equal(ids[i], i);
    assert_int_equal(rapt_token_file_bytes(f, k, 0, vocab), strlen(line));
    rapt_token_file_close(f);
    rapt_tokenizer_free(k);
    free(ids);
    free(line);
}

static void the_vocabulary_decides_the_width(void **state)
{
    (void)state;
    check_width(65535, 2);
    check_width(65536, 2);
    check_width(65537, 4);
}

/* Around the size of a portion, 65,536 ids. */
static void any_number_of_ids(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 65535, 65536, 65537, 131071, 131072, 131073, 300000};
    rapt_tokenizer *k = characters_of("0123456");
    char *line = malloc(300000);
    int32_t *ids = malloc(300000 * sizeof *ids);
    for (size_t i = 0; i < 300000; i++)
        line[i] = (char)('0' + i * i % 7);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        put(text, line, counts[c]);
        assert_made(k);
        rapt_token_file *f = rapt_token_file_open(out, NULL);
        assert_int_equal(rapt_token_file_count(f), counts[c]);
        assert_int_equal(rapt_token_file_text_bytes(f), counts[c]);
        rapt_token_file_ids(f, 0, counts[c], ids);
        for (size_t i = 0; i < counts[c]; i++)
            assert_int_equal(ids[i], line[i] - '0');
        rapt_token_file_close(f);
    }
    free(ids);
    free(line);
    rapt_tokenizer_free(k);
}

/* "é" and "€" have two and three bytes. */
static void bytes_of_a_part(void **state)
{
    (void)state;
    rapt_tokenizer *k = characters_of("aé€");
    put_text("a€éaé");
    assert_made(k);
    rapt_token_file *f = rapt_token_file_open(out, NULL);
    assert_int_equal(rapt_token_file_text_bytes(f), 9);
    assert_int_equal(rapt_token_file_bytes(f, k, 0, 5), 9);
    assert_int_equal(rapt_token_file_bytes(f, k, 1, 3), 5);
    assert_int_equal(rapt_token_file_bytes(f, k, 4, 5), 2);
    assert_int_equal(rapt_token_file_bytes(f, k, 2, 2), 0);
    rapt_token_file_close(f);
    rapt_tokenizer_free(k);
}

/* Tokens of a pipeline are not the bytes of the text: U+2581, of three bytes, stands for a space, and for none at the
 * beginning. */
static void bytes_of_a_pipeline(void **state)
{
    (void)state;
    rapt_error err = {0};
    put_text("{\"decoder\": {\"type\": \"Metaspace\", \"replacement\": \"\xE2\x96\x81\"}, \"model\": {\"type\": \"WordLevel\", "
             "\"unk_token\": \"x\", \"vocab\": {\"x\": 0, \"\xE2\x96\x81""ab\": 1}}}");
    rapt_tokenizer *k = rapt_tokenizer_load(text, &err);
    if (!k)
        fail_msg("%s", err.message);
    int32_t *ids = calloc(10000, sizeof *ids);
    for (int i = 0; i < 10000; i++)
        ids[i] = i % 2;
    rapt_token_file *f = rapt_token_file_from_ids((int32_t[]){1, 0, 1}, 3, 2, &err), *g;
    assert_non_null(f);
    assert_int_equal(rapt_token_file_bytes(f, k, 0, 3), strlen("abx ab"));
    assert_int_equal(rapt_token_file_bytes(f, k, 2, 3), strlen(" ab"));
    g = rapt_token_file_from_ids(ids, 10000, 2, &err); /* more than are decoded at a time */
    assert_int_equal(rapt_token_file_bytes(g, k, 0, 10000), 5000 * strlen("x ab"));
    rapt_token_file_close(f);
    rapt_token_file_close(g);
    free(ids);
    rapt_tokenizer_free(k);
}

static void special_tokens_of_a_text_are_tokens(void **state)
{
    (void)state;
    const char *specials[] = {"<|end|>"};
    rapt_error err = {0};
    rapt_bpe_options o = TRAIN_BPE(.vocab_size = 257, .specials = specials, .special_count = 1, .threads = 1);
    rapt_tokenizer *k = rapt_tokenizer_train_bpe("x", 1, &o, &err);
    assert_string_equal(err.message, "");
    int32_t end = rapt_tokenizer_special(k, "<|end|>"), ids[4];
    assert_int_equal(end, 256);
    put_text("a<|end|>b\n");
    assert_made(k);
    rapt_token_file *f = rapt_token_file_open(out, NULL);
    assert_int_equal(rapt_token_file_count(f), 4);
    rapt_token_file_ids(f, 0, 4, ids);
    assert_memory_equal(ids, ((int32_t[]){'a', end, 'b', '\n'}), 4 * sizeof *ids);
    rapt_token_file_close(f);
    rapt_tokenizer_free(k);
}

static void assert_fails(const rapt_tokenizer *k, const char *from, const char *to, rapt_code code, const char *format, ...)
{
    char message[512];
    rapt_error err = {0}, again = {0};
    int before = folder_entries(folder_path);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    assert_int_equal(rapt_token_file_make(k, from, to, &err), code);
    assert_string_equal(err.message, message);
    assert_null(rapt_token_file_ensure(k, from, to, &again));
    assert_string_equal(again.message, message);
    assert_int_equal(folder_entries(folder_path), before);
}

static void bad_texts_are_refused(void **state)
{
    (void)state;
    rapt_tokenizer *k = characters_of("hello"), *words;
    const char *none = folder_in("none");
    put_text("");
    assert_fails(k, text, out, RAPT_ERR_FORMAT, "%s: the file is empty", text);
    assert_fails(k, none, out, RAPT_ERR_NOT_FOUND, "cannot read %s: No such file or directory", none);
    assert_fails(k, folder_path, out, RAPT_ERR_IO, "cannot read %s: Is a directory", folder_path);
    words = rapt_tokenizer_train_words((const char *[]){"hello"}, 1, &TRAIN_WORDS(), NULL);
    put_text(" \n \t\n");
    assert_fails(words, text, out, RAPT_ERR_FORMAT, "%s: the text has no tokens", text);
    rapt_tokenizer_free(words);
    rapt_tokenizer_free(k);
}

/* What the tokenizer says gets the path before it; it counts the bytes of a text from 1. */
static void unknown_characters_are_refused(void **state)
{
    (void)state;
    rapt_tokenizer *k = characters_of("hello");
    rapt_error err = {0};
    char begin[FOLDER_ROOM + 16];
    snprintf(begin, sizeof begin, "%s: byte 5: ", text);
    put_text("hell\xff");
    assert_int_not_equal(rapt_token_file_make(k, text, out, &err), RAPT_OK);
    assert_memory_equal(err.message, begin, strlen(begin));
    err = (rapt_error){0};
    put_text("hellx");
    assert_int_not_equal(rapt_token_file_make(k, text, out, &err), RAPT_OK);
    assert_memory_equal(err.message, begin, strlen(begin));
    assert_int_equal(folder_entries(folder_path), 1);
    rapt_tokenizer_free(k);
}

static void other_files_are_left_alone(void **state)
{
    (void)state;
    rapt_tokenizer *k = characters_of("hello");
    char line[16] = "";
    const char *missing = folder_in("no/t.tokens");
    put_text("hello");
    put(out, "RAPTTOK", 7); /* what is left of one may go */
    assert_made(k);
    put(out, "", 0);
    assert_made(k);
    put(out, "RAPTTOK2", 8);
    assert_fails(k, text, out, RAPT_ERR_VALUE, "%s: it is no token file, and is not replaced by one", out);
    assert_fails(k, text, text, RAPT_ERR_VALUE, "%s: it is no token file, and is not replaced by one", text);
    FILE *file = fopen(text, "rb");
    assert_int_equal(fread(line, 1, sizeof line, file), 5);
    fclose(file);
    assert_string_equal(line, "hello");
    assert_fails(k, text, folder_path, RAPT_ERR_IO, "cannot read %s: Is a directory", folder_path);
    assert_fails(k, text, missing, RAPT_ERR_NOT_FOUND, "cannot write %s: No such file or directory", missing);
    rapt_tokenizer_free(k);
}

/* A limit on file sizes stands in for a full disk. */
static void a_full_disk_leaves_nothing(void **state)
{
    (void)state;
    rapt_tokenizer *k = characters_of("x");
    char *line = malloc(200000);
    struct rlimit old, low;
    memset(line, 'x', 200000);
    put(text, line, 200000);
    getrlimit(RLIMIT_FSIZE, &old);
    low = (struct rlimit){.rlim_cur = 150000, .rlim_max = old.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    assert_fails(k, text, out, RAPT_ERR_IO, "cannot write %s: File too large", out);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, handler);
    free(line);
    rapt_tokenizer_free(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(hello_is_what_it_is_by_hand, remove_files),
        cmocka_unit_test_teardown(the_vocabulary_decides_the_width, remove_files),
        cmocka_unit_test_teardown(any_number_of_ids, remove_files),
        cmocka_unit_test_teardown(bytes_of_a_part, remove_files),
        cmocka_unit_test_teardown(bytes_of_a_pipeline, remove_files),
        cmocka_unit_test_teardown(special_tokens_of_a_text_are_tokens, remove_files),
        cmocka_unit_test_teardown(bad_texts_are_refused, remove_files),
        cmocka_unit_test_teardown(unknown_characters_are_refused, remove_files),
        cmocka_unit_test_teardown(other_files_are_left_alone, remove_files),
        cmocka_unit_test_teardown(a_full_disk_leaves_nothing, remove_files),
    };
    return cmocka_run_group_tests(tests, make_folder, folder_remove_empty);
}
