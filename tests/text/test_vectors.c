/* tests/text/test_vectors.c: word vectors of each form of file, written here byte by byte as the programs that make them do. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "options.h"
#include "rapt/text.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define D 3
#define UNTOUCHED 9.5f

/* The vocabulary <unk> <pad> <bos> <eos>, then by falling frequency the dog cat. */
enum { THE = 4, DOG, CAT, ENTRIES };

static rapt_tokenizer *words(void)
{
    rapt_error err = {0};
    const char *const lines[] = {"the the the dog dog cat"};
    rapt_tokenizer *k = rapt_tokenizer_train_words(lines, 1, &TRAIN_WORDS(.lowercase = true), &err);
    assert_non_null(k);
    assert_int_equal(rapt_tokenizer_size(k), ENTRIES);
    return k;
}

typedef struct reading {
    rapt_real table[ENTRIES][D];
    rapt_vectors_result result;
    rapt_error err;
    rapt_code code;
} reading;

static reading read_with(const rapt_tokenizer *k, const void *bytes, size_t size, size_t entries, size_t d)
{
    char path[64];
    reading r = {.err = {0}};
    for (size_t i = 0; i < ENTRIES; i++)
        for (size_t j = 0; j < D; j++)
            r.table[i][j] = UNTOUCHED;
    int fd = memfd_create("vectors", 0);
    assert_true(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    r.code = rapt_vectors_read(path, k, entries, d, r.table[0], &r.result, &r.err);
    close(fd);
    return r;
}

static reading read_bytes(const void *bytes, size_t size)
{
    rapt_tokenizer *k = words();
    reading r = read_with(k, bytes, size, ENTRIES, D);
    rapt_tokenizer_free(k);
    return r;
}

static reading read_text(const char *text)
{
    return read_bytes(text, strlen(text));
}

static void assert_row(const reading *r, size_t row, float a, float b, float c)
{
    const float want[D] = {a, b, c};
    for (size_t j = 0; j < D; j++)
        assert_true(r->table[row][j] == want[j]);
}

static void glove(void **state)
{
    (void)state;
    reading r = read_text("the 0.25 -1.5 2\n, 1 2 3\ncat 1e-3 4 5e2\nhouse 7 8 9\n");
    assert_int_equal(r.code, RAPT_OK);
    assert_true(r.result.words == 4 && r.result.tokens == ENTRIES && r.result.found == 2);
    assert_row(&r, THE, 0.25f, -1.5f, 2);
    assert_row(&r, CAT, 1e-3f, 4, 500);
    assert_row(&r, DOG, UNTOUCHED, UNTOUCHED, UNTOUCHED); /* no vector: as it was */
    assert_row(&r, 0, UNTOUCHED, UNTOUCHED, UNTOUCHED);
}

static void forms_of_text(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "the 0.25 -1.5 2\ndog 3 4 5",               /* the last line without an end */
        "the 0.25 -1.5 2 \ndog 3 4 5 \n",           /* spaces at the end, as word2vec writes */
        "the\t0.25\t-1.5\t2\r\ndog 3  4 5\r\n",     /* tabs, CRLF */
        "2 3\nthe 0.25 -1.5 2\ndog 3 4 5\n",        /* word2vec's header */
        "the 0.25 -1.5 2\n. . . 7 7 7\ndog 3 4 5\n", /* a word of GloVe's 840B: spaces belong to it */
        "the 0.25 -1.5 2\ndog 3 4 5\nthe 8 8 8\n",   /* a word that comes twice: the first counts */
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        reading r = read_text(texts[i]);
        assert_int_equal(r.code, RAPT_OK);
        assert_int_equal(r.result.found, 2);
        assert_row(&r, THE, 0.25f, -1.5f, 2);
        assert_row(&r, DOG, 3, 4, 5);
    }
}

static size_t put_binary(char *out, const char *word, const float v[D], bool newline)
{
    size_t size = strlen(word);
    memcpy(out, word, size);
    out[size++] = ' ';
    memcpy(out + size, v, D * sizeof *v);
    size += D * sizeof *v;
    if (newline)
        out[size++] = '\n';
    return size;
}

static void binary(void **state)
{
    (void)state;
    const float a[D] = {0.1f, -0.75f, 3e-5f}, b[D] = {-1, 2.5f, -0.3f}, c[D] = {1, 1, 1};
    for (int newline = 0; newline < 2; newline++) { /* the original program writes them, others don't */
        char bytes[256] = "3 3\n";
        size_t size = 4;
        size += put_binary(bytes + size, "</s>", c, newline);
        size += put_binary(bytes + size, "dog", a, newline);
        size += put_binary(bytes + size, "cat", b, newline);
        reading r = read_bytes(bytes, size);
        assert_int_equal(r.code, RAPT_OK);
        assert_true(r.result.words == 3 && r.result.found == 2);
        assert_row(&r, DOG, a[0], a[1], a[2]);
        assert_row(&r, CAT, b[0], b[1], b[2]);
        r = read_bytes(bytes, size - 3); /* cut */
        assert_int_equal(r.code, RAPT_ERR_FORMAT);
        assert_non_null(strstr(r.err.message, ": word 3 of 3: the file ends within it"));
        memcpy(bytes + 4 + 4 + 1, &(float){NAN}, sizeof(float)); /* of a word that nobody asks for */
        assert_int_equal(read_bytes(bytes, size).code, RAPT_OK);
    }
}

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        rapt_code code;
        const char *message;
    } cases[] = {
        {"", RAPT_ERR_FORMAT, ": the file is empty"},
        {"the 1 2 3 4\n", RAPT_ERR_VALUE, ": its vectors have 4 numbers, the embedding has 3"},
        {"9 1\nthe 1\n", RAPT_ERR_VALUE, ": its vectors have 1 number, the embedding has 3"},
        {"the 1 2 3\ndog 1 2\n", RAPT_ERR_FORMAT, ":2: 3 fields; a word and 3 numbers are expected"},
        {"a 1 2 3\n\nthe 1 2 3\n", RAPT_ERR_FORMAT, ":2: 0 fields; a word and 3 numbers are expected"},
        {"the 1 two 3\n", RAPT_ERR_FORMAT, ":1: number 2 is none, or not finite"},
        {"the 1 2 nan\n", RAPT_ERR_FORMAT, ":1: number 3 is none, or not finite"},
        {"the 1 1e99 3\n", RAPT_ERR_FORMAT, ":1: number 2 is none, or not finite"},
        {"the 1 0.0000000000000000000000000000000000000000000000000000000000000000000000001 3\n", RAPT_ERR_FORMAT,
         ":1: number 2 is none"},
        {"3 3\nthe 1 2 3\ndog 1 2 3\n", RAPT_ERR_FORMAT, ": fewer than the 3 words of its first line"},
        {"1 3\nthe 1 2 3\ndog 1 2 3\n", RAPT_ERR_FORMAT, ": more than the 1 words of its first line"},
        {"one 1 2 3\nTwo 1 2 3\n", RAPT_ERR_VALUE, ": none of its 2 words is a token of the vocabulary"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        reading r = read_text(cases[i].text);
        assert_int_equal(r.code, cases[i].code);
        assert_non_null(strstr(r.err.message, cases[i].message));
    }
    assert_int_equal(read_bytes("the 1 2\0x 3\n", 12).code, RAPT_ERR_FORMAT); /* no number ends at a NUL */
    rapt_error err = {0};
    rapt_tokenizer *k = words();
    rapt_real table[ENTRIES * D];
    assert_int_equal(rapt_vectors_read("no/such/file", k, ENTRIES, D, table, NULL, &err), RAPT_ERR_NOT_FOUND);
    rapt_tokenizer_free(k);
}

/* A model's vocabulary may be smaller than its tokenizer's, and byte-level BPE begins words with a space. */
static void other_vocabularies(void **state)
{
    (void)state;
    const char *text = "the 1 2 3\ndog 4 5 6\ncat 7 8 9\n";
    rapt_tokenizer *k = words();
    reading r = read_with(k, text, strlen(text), CAT, D);
    assert_true(r.code == RAPT_OK && r.result.tokens == CAT && r.result.found == 2);
    assert_row(&r, CAT, UNTOUCHED, UNTOUCHED, UNTOUCHED);
    rapt_tokenizer_free(k);
    rapt_error err = {0};
    static const char pieces[] = "dog dog dog dog dog dog";
    k = rapt_tokenizer_train_bpe(pieces, strlen(pieces), &TRAIN_BPE(.vocab_size = 260), &err);
    assert_non_null(k);
    size_t size = rapt_tokenizer_size(k), seen = 0;
    rapt_real *table = calloc(size * D, sizeof *table);
    char path[64];
    int fd = memfd_create("vectors", 0);
    assert_true(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    assert_int_equal(rapt_vectors_read(path, k, size, D, table, NULL, &err), RAPT_OK);
    for (size_t id = 0; id < size; id++) {
        const char *token = rapt_tokenizer_token(k, (int32_t)id, NULL);
        const bool dog = token && (strcmp(token, "dog") == 0 || strcmp(token, " dog") == 0);
        assert_true(table[id * D] == (dog ? 4 : 0) && table[id * D + 2] == (dog ? 6 : 0));
        seen += dog;
    }
    assert_true(seen > 0);
    close(fd);
    free(table);
    rapt_tokenizer_free(k);
}

static void any_locale(void **state)
{
    (void)state;
    setlocale(LC_ALL, "de_DE.UTF-8"); /* a comma in numbers, where it is installed */
    reading r = read_text("the 0.25 -1.5 2\n");
    setlocale(LC_ALL, "C");
    assert_int_equal(r.code, RAPT_OK);
    assert_row(&r, THE, 0.25f, -1.5f, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(glove),    cmocka_unit_test(forms_of_text),      cmocka_unit_test(binary),
        cmocka_unit_test(refusals), cmocka_unit_test(other_vocabularies), cmocka_unit_test(any_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
