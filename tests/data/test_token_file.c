/* tests/data/test_token_file.c: opening token files: the format against bytes made by hand, every kind of damage, ids in
 * memory, parts. For src/data/tokens/token_file.c and token_format.c. How they are made from texts is in test_token_make.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rapt/stream.h"

#include "folder.h"
#include "token_image.h"

#include <math.h>

static char path[FOLDER_ROOM];

static int make_folder(void **state)
{
    if (folder_make(state))
        return -1;
    strcpy(path, folder_in("t.tokens"));
    return 0;
}

static int remove_folder(void **state)
{
    unlink(path);
    return folder_remove_empty(state);
}

static rapt_token_file *open_image(const token_image *m, rapt_error *err)
{
    FILE *file = fopen(path, "wb");
    assert_int_equal(fwrite(m->bytes, 1, m->size, file), m->size);
    fclose(file);
    return rapt_token_file_open(path, err);
}

static void assert_opens(const token_image *m)
{
    rapt_error err = {0};
    rapt_token_file *f = open_image(m, &err);
    assert_string_equal(err.message, "");
    assert_non_null(f);
    rapt_token_file_close(f);
}

/* The message is the path, a colon, and `reason`. */
static void assert_refused(const token_image *m, const char *reason)
{
    char message[512];
    rapt_error err = {0};
    assert_null(open_image(m, &err));
    assert_int_equal(err.code, RAPT_ERR_FORMAT);
    snprintf(message, sizeof message, "%s: %s", path, reason);
    assert_string_equal(err.message, message);
}

static void assert_refused_with(const token_image *m, const char *word)
{
    rapt_error err = {0};
    assert_null(open_image(m, &err));
    assert_int_equal(err.code, RAPT_ERR_FORMAT);
    assert_non_null(strstr(err.message, path));
    if (!strstr(err.message, word))
        fail_msg("\"%s\" does not say \"%s\"", err.message, word);
}

static void bytes_made_by_hand_are_read(void **state)
{
    (void)state;
    token_image m = image_of_hello(0x0123456789abcdef);
    rapt_error err = {0};
    rapt_token_file *f = open_image(&m, &err);
    int32_t ids[5];
    assert_non_null(f);
    assert_int_equal(rapt_token_file_count(f), 5);
    assert_int_equal(rapt_token_file_vocab(f), 4);
    assert_int_equal(rapt_token_file_max_id(f), 3);
    assert_int_equal(rapt_token_file_text_bytes(f), 5);
    assert_true(rapt_token_file_tokenizer_hash(f) == 0x0123456789abcdef);
    rapt_token_file_ids(f, 0, 5, ids);
    assert_memory_equal(ids, ((int32_t[]){1, 0, 2, 2, 3}), sizeof ids);
    rapt_token_file_ids(f, 3, 2, ids);
    assert_memory_equal(ids, ((int32_t[]){2, 3}), 2 * sizeof *ids);
    rapt_token_file_close(f);
}

/* Four bytes an id: 70,000 in a vocabulary of 70,001. The hash is XXH3's of struct.pack("<2I", 70000, 1). */
static token_image wide_image(void)
{
    token_image m = image_of_hello(1);
    m.size = IMAGE_HEADER + 8;
    image_put(&m, 10, 2, 4);
    image_put(&m, 16, 8, 2);
    image_put(&m, 48, 8, 0xe9f7a2a8a116b37e);
    image_put(&m, 56, 4, 70001);
    image_put(&m, 60, 4, 70000);
    image_put(&m, 64, 4, 70000);
    image_put(&m, 68, 4, 1);
    image_seal(&m);
    return m;
}

static void wide_ids_are_read(void **state)
{
    (void)state;
    token_image m = wide_image();
    rapt_error err = {0};
    rapt_token_file *f = open_image(&m, &err);
    int32_t ids[2];
    assert_string_equal(err.message, "");
    assert_non_null(f);
    rapt_token_file_ids(f, 0, 2, ids);
    assert_int_equal(ids[0], 70000);
    assert_int_equal(ids[1], 1);
    rapt_token_file_close(f);
}

static void every_length_but_one_is_refused(void **state)
{
    (void)state;
    token_image whole = image_of_hello(7), m = whole;
    for (m.size = 0; m.size < IMAGE_HEADER; m.size++)
        assert_refused_with(&m, "the file ends within the 64 bytes of its header");
    for (; m.size < whole.size; m.size++)
        assert_refused_with(&m, "of 5 tokens; is it cut off?");
    assert_opens(&m);
    m.size = whole.size - 1;
    assert_refused(&m, "byte 73: the file ends after 4 of 5 tokens; is it cut off?");
    for (m.size = whole.size + 1; m.size < whole.size + 5; m.size++)
        assert_refused(&m, "byte 74: something follows the last token");
}

static void every_flipped_bit_is_seen(void **state)
{
    (void)state;
    token_image whole = image_of_hello(7);
    for (size_t bit = 0; bit < 8 * whole.size; bit++) {
        token_image m = whole;
        m.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_refused_with(&m, bit < 64             ? "byte 0: it does not begin with RAPTTOK1; no token file?"
                            : bit < 8 * IMAGE_HEADER ? "the file is damaged: the checksum of its header is "
                                                     : "the file is damaged: the checksum of its ids is ");
    }
    assert_opens(&whole);
}

/* What another program could have written, checksum and all. */
static void assert_header_refused(size_t at, size_t width, uint64_t value, const char *reason)
{
    token_image m = image_of_hello(7);
    image_put(&m, at, width, value);
    image_seal(&m);
    assert_refused(&m, reason);
}

static void contradictions_are_seen(void **state)
{
    (void)state;
    assert_header_refused(8, 2, 3, "it has version 3 of the format; this program reads versions 1 and 2");
    assert_header_refused(10, 2, 4, "malformed header: its bytes per id are not those of its vocabulary");
    assert_header_refused(10, 2, 0, "malformed header: its bytes per id are not those of its vocabulary");
    assert_header_refused(56, 4, 65537, "malformed header: its bytes per id are not those of its vocabulary");
    assert_header_refused(16, 8, 0, "malformed header: it has no tokens");
    assert_header_refused(16, 8, 4, "byte 72: something follows the last token");
    assert_header_refused(16, 8, (UINT64_C(1) << 63) + 5, /* times 2 this wraps to 10 */
                          "byte 74: the file ends after 5 of 9223372036854775813 tokens; is it cut off?");
    assert_header_refused(56, 4, 0, "malformed header: the size of its vocabulary is not 1 to 2^31");
    assert_header_refused(56, 4, 0x80000001, "malformed header: the size of its vocabulary is not 1 to 2^31");
    assert_header_refused(56, 4, 3, "malformed header: its largest id is outside its vocabulary");
    assert_header_refused(60, 4, 2, "malformed header: the largest id is 3, not 2");
    token_image m = image_of_hello(7);
    image_put(&m, 56, 4, 65536);
    image_seal(&m);
    assert_opens(&m); /* the largest vocabulary of narrow ids */
}

static void what_is_no_file_is_refused(void **state)
{
    (void)state;
    char message[256];
    rapt_error err = {0}, missing = {0};
    assert_null(rapt_token_file_open(folder_path, &err));
    snprintf(message, sizeof message, "cannot read %s: Is a directory", folder_path);
    assert_string_equal(err.message, message);
    assert_null(rapt_token_file_open(folder_in("none"), &missing));
    assert_int_equal(missing.code, RAPT_ERR_NOT_FOUND);
    rapt_token_file_close(NULL);
}

static void assert_ids_refused(const int32_t *ids, size_t count, size_t vocab, const char *message)
{
    rapt_error err = {0};
    assert_null(rapt_token_file_from_ids(ids, count, vocab, &err));
    assert_int_equal(err.code, RAPT_ERR_VALUE);
    assert_string_equal(err.message, message);
}

static void ids_in_memory(void **state)
{
    (void)state;
    int32_t ids[] = {5, 65535, 0}, wide[] = {65536, 0}, back[3];
    rapt_token_file *f = rapt_token_file_from_ids(ids, 3, 65536, NULL);
    rapt_token_file_ids(f, 0, 3, back);
    assert_memory_equal(back, ids, sizeof ids);
    assert_int_equal(rapt_token_file_max_id(f), 65535);
    assert_int_equal(rapt_token_file_vocab(f), 65536);
    assert_int_equal(rapt_token_file_text_bytes(f), 0);
    rapt_token_file_close(f);
    f = rapt_token_file_from_ids(wide, 2, 65537, NULL);
    rapt_token_file_ids(f, 0, 2, back);
    assert_memory_equal(back, wide, sizeof wide);
    rapt_token_file_close(f);
    assert_ids_refused(ids, 0, 10, "there are no tokens");
    assert_ids_refused(ids, 3, 65535, "token 1 is 65535, which is outside the vocabulary of 65535");
    assert_ids_refused((int32_t[]){-1}, 1, 65535, "token 0 is -1, which is outside the vocabulary of 65535");
    assert_ids_refused(ids, 3, 0, "a vocabulary of 0 entries is not possible; 1 to 2^31 are");
}

static void assert_split(const rapt_token_file *f, double fraction, size_t at)
{
    size_t count = rapt_token_file_count(f);
    rapt_token_range train = rapt_token_range_training(f, fraction), valid = rapt_token_range_validation(f, fraction);
    assert_int_equal(train.begin, 0);
    assert_int_equal(train.end, at);
    assert_int_equal(valid.begin, at);
    assert_int_equal(valid.end, count);
}

/* int(len * fraction), as Python computes it: 77919 * 0.9 is 70127.1, 70 * 0.9 is 63, 10 * 0.7 is 7, 100 * 0.29 is
 * 28.999999999999996. */
static void a_text_is_split_as_python_does(void **state)
{
    (void)state;
    static const struct { size_t count; double fraction; size_t at; } cases[] = {
        {77919, 0.9, 70127}, {70, 0.9, 63}, {10, 0.7, 7}, {100, 0.29, 28}, {3, 0.5, 1}, {7, 0, 0}, {7, 1, 7},
        {7, -1, 0}, {7, 2, 7}, {7, NAN, 0}, {1, 0.9, 0},
    };
    int32_t *ids = calloc(77919, sizeof *ids);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_token_file *f = rapt_token_file_from_ids(ids, cases[i].count, 1, NULL);
        assert_split(f, cases[i].fraction, cases[i].at);
        assert_int_equal(rapt_token_range_all(f).end - rapt_token_range_all(f).begin, cases[i].count);
        rapt_token_file_close(f);
    }
    free(ids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_made_by_hand_are_read),
        cmocka_unit_test(wide_ids_are_read),
        cmocka_unit_test(every_length_but_one_is_refused),
        cmocka_unit_test(every_flipped_bit_is_seen),
        cmocka_unit_test(contradictions_are_seen),
        cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(ids_in_memory),
        cmocka_unit_test(a_text_is_split_as_python_does),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
