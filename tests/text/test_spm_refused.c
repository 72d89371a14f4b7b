/* test_spm_refused.c: SentencePiece models that are no models: each is refused in one line that names the file and the
 * reason; and what is at the edge of being refused. For src/text/spm: protobuf.c, charsmap.c, spm_read.c and spm_pieces.c.
 * Models are made here, field by field. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "text/spm/charsmap.h"
#include "text/tokenizer_files.h"

/* ---- a model, field by field -------------------------------------------------------------------------------- */

typedef struct model {
    char bytes[8192];
    size_t size;
} model;

static void put(model *m, const void *bytes, size_t size)
{
    assert_true(m->size + size <= sizeof m->bytes);
    memcpy(m->bytes + m->size, bytes, size);
    m->size += size;
}

static void put_varint(model *m, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put(m, &(char){(char)(value | 0x80)}, 1);
    put(m, &(char){(char)value}, 1);
}

static void put_number(model *m, uint32_t field, uint64_t value)
{
    put_varint(m, field << 3);
    put_varint(m, value);
}

static void put_bytes(model *m, uint32_t field, const void *bytes, size_t size)
{
    put_varint(m, field << 3 | 2);
    put_varint(m, size);
    put(m, bytes, size);
}

static void put_sized_piece(model *m, const char *text, size_t size, float score, unsigned type)
{
    model piece = {.size = 0};
    put_bytes(&piece, 1, text, size);
    put_varint(&piece, 2 << 3 | 5);
    put(&piece, &score, sizeof score);
    put_number(&piece, 3, type);
    put_bytes(m, 1, piece.bytes, piece.size);
}

static void put_piece(model *m, const char *text, float score, unsigned type)
{
    put_sized_piece(m, text, strlen(text), score, type);
}

enum { NORMAL = 1, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE };

/* <unk> and "a". */
static model two_pieces(void)
{
    model m = {.size = 0};
    put_piece(&m, "<unk>", 0, UNKNOWN);
    put_piece(&m, "a", -1, NORMAL);
    return m;
}

static void put_setting(model *m, uint32_t message, uint32_t field, uint64_t value)
{
    model inner = {.size = 0};
    put_number(&inner, field, value);
    put_bytes(m, message, inner.bytes, inner.size);
}

static void put_charsmap(model *m, const void *blob, size_t size)
{
    model inner = {.size = 0};
    put_bytes(&inner, 2, blob, size);
    put_bytes(m, 3, inner.bytes, inner.size);
}

static void assert_model_refused(const model *m, const char *message)
{
    const char *path = write_file("t.model", m->bytes, m->size);
    assert_refused(path, message);
    assert_refused(path, "t.model: as a SentencePiece model: ");
}

/* With trainer_spec and normalizer_spec, which a model must have. */
static model with_settings(const model *m)
{
    model whole = *m;
    put_bytes(&whole, 2, "", 0);
    put_bytes(&whole, 3, "", 0);
    return whole;
}

static rapt_tokenizer *load_model(const model *m)
{
    const model whole = with_settings(m);
    return load(write_file("t.model", whole.bytes, whole.size));
}

/* ---- the file ----------------------------------------------------------------------------------------------- */

static void test_no_fields(void **state)
{
    (void)state;
    assert_model_refused(&(model){.size = 0}, "no piece is the unknown one");
    assert_model_refused(&(model){"some text", 9}, "byte 1: a field that is cut off or has no known form");
    assert_model_refused(&(model){"\x0A", 1}, "byte 1: a field");
    assert_model_refused(&(model){"\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 11}, "byte 1: a field");
    assert_model_refused(&(model){"\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 13}, "byte 1: a field");
    assert_model_refused(&(model){"\x0A\x7F" "abc", 5}, "byte 1: a field");
    assert_model_refused(&(model){"\x0A\x02\x0A\x7F", 4}, "byte 3: a field");
    assert_model_refused(&(model){"\x00\x00", 2}, "byte 1: a field");
}

/* Cut off anywhere, also between two fields, it is refused. */
static void test_cut_off(void **state)
{
    (void)state;
    rapt_error err;
    const model pieces = two_pieces(), whole = with_settings(&pieces);
    rapt_tokenizer_free(load(write_file("t.model", whole.bytes, whole.size)));
    for (size_t size = 0; size < whole.size; size++) {
        err = (rapt_error){0};
        assert_null(rapt_tokenizer_load(write_file("t.model", whole.bytes, size), &err));
        assert_int_equal(err.code, RAPT_ERR_FORMAT);
    }
}

/* Fields that are unknown, or known with another type, are passed over. */
static void test_unknown_fields(void **state)
{
    (void)state;
    model m = two_pieces();
    put_number(&m, 99, 7);
    put_bytes(&m, 200, "abc", 3);
    put_varint(&m, 77 << 3 | 1);
    put(&m, "12345678", 8);
    put_number(&m, 2, 5);
    rapt_tokenizer *k = load_model(&m);
    assert_int_equal(rapt_tokenizer_size(k), 2);
    ENCODES(k, "a", 0, 1);
    rapt_tokenizer_free(k);
    put_varint(&m, 99 << 3 | 3);
    assert_model_refused(&m, ": a field");
}

/* ---- pieces ------------------------------------------------------------------------------------------------- */

static void assert_piece_refused(const char *text, size_t size, float score, unsigned type, const char *message)
{
    model m = two_pieces();
    put_sized_piece(&m, text, size, score, type);
    assert_model_refused(&m, message);
}

static void test_pieces(void **state)
{
    (void)state;
    assert_piece_refused("", 0, 0, NORMAL, "piece 2 is empty");
    assert_piece_refused("b\0c", 3, 0, NORMAL, "piece 2 holds a NUL");
    assert_piece_refused("b", 1, NAN, NORMAL, "piece 2 has a score that is not finite");
    assert_piece_refused("b", 1, -INFINITY, NORMAL, "piece 2 has a score that is not finite");
    assert_piece_refused("a", 1, 0, NORMAL, "piece 2 has the text of an earlier one");
    assert_piece_refused("a", 1, 0, USER_DEFINED, "piece 2 has the text of an earlier one");
    assert_piece_refused("<unk>", 5, 0, CONTROL, "piece 2 has the text of an earlier one");
    assert_piece_refused("<other>", 7, 0, UNKNOWN, "piece 2 is unknown, as an earlier one is");
    assert_piece_refused("b", 1, 0, 0, "piece 2 has type 0; 1 to 6 are known");
    assert_piece_refused("b", 1, 0, 7, "piece 2 has type 7; 1 to 6 are known");
    assert_piece_refused("<0x0a>", 6, 0, BYTE, "piece 2 is a byte, but not called <0x00> to <0xFF>");
    assert_piece_refused("<0x41>", 6, 0, BYTE, "piece 2 is a byte, where there is no byte fallback");
}

/* A reserved piece may have the text of one that a text becomes, but not in a BPE model. */
static void test_same_text(void **state)
{
    (void)state;
    model m = two_pieces();
    put_piece(&m, "<unk>", -1, NORMAL);
    put_setting(&m, 3, 3, 0);
    rapt_tokenizer *k = load_model(&m);
    ENCODES(k, "<unk>a", 2, 1);
    DECODES(k, "a<unk> \xE2\x81\x87 ", 1, 2, 0);
    rapt_tokenizer_free(k);
    put_setting(&m, 2, 3, 2);
    assert_model_refused(&m, "piece 2 has the text of an earlier one");
}

/* Where scores are not added up, they need not be finite, and where they are not looked at, no numbers. */
static void test_scores(void **state)
{
    (void)state;
    model infinite = two_pieces(), nan = infinite;
    put_piece(&infinite, "b", -INFINITY, NORMAL);
    put_piece(&nan, "b", NAN, NORMAL);
    put_setting(&infinite, 2, 3, 2);
    rapt_tokenizer_free(load_model(&infinite));
    put_setting(&nan, 2, 3, 2);
    assert_model_refused(&nan, "piece 2 has a score that is no number");
    put_setting(&nan, 2, 3, 4);
    rapt_tokenizer_free(load_model(&nan));
}

static void test_long_piece(void **state)
{
    (void)state;
    static char text[8000];
    memset(text, 'b', sizeof text);
    assert_piece_refused(text, 8000, 0, NORMAL, "piece 2 is too long");
    model m = two_pieces();
    put_sized_piece(&m, text, 7999, 0, NORMAL);
    rapt_tokenizer_free(load_model(&m));
}

/* With pieces for all bytes there need be no unknown piece; a piece that is a NUL is never found then. */
static void test_bytes_alone(void **state)
{
    (void)state;
    model m = {.size = 0};
    put_setting(&m, 2, 35, 1);
    put_setting(&m, 3, 3, 0);
    put_piece(&m, "a", -1, NORMAL);
    put_sized_piece(&m, "\0", 1, -1, NORMAL);
    for (unsigned byte = 0; byte < 256; byte++) {
        char name[8];
        snprintf(name, sizeof name, "<0x%02X>", byte);
        put_piece(&m, name, 0, BYTE);
    }
    rapt_tokenizer *k = load_model(&m);
    ENCODES(k, "ab\0", 0, 2 + 'b', 2);
    DECODES(k, "ab\0", 0, 2 + 'b', 1);
    rapt_tokenizer_free(k);
}

static void test_lacks(void **state)
{
    (void)state;
    model plain = two_pieces(), trained = plain;
    assert_model_refused(&plain, "there is no trainer_spec: is the file truncated?");
    put_bytes(&trained, 2, "", 0);
    assert_model_refused(&trained, "there is no normalizer_spec: is the file truncated?");
    model none = {.size = 0}, reserved = {.size = 0}, fallback = two_pieces();
    put_piece(&none, "a", 0, NORMAL);
    assert_model_refused(&none, "no piece is the unknown one");
    put_piece(&reserved, "<unk>", 0, UNKNOWN); /* unigram */
    assert_model_refused(&reserved, "no piece that a text could become");
    put_setting(&fallback, 2, 35, 1);
    assert_model_refused(&fallback, "byte fallback without a piece for the byte 0x00");
}

static void test_model_types(void **state)
{
    (void)state;
    model zero = two_pieces(), five = two_pieces(), huge = two_pieces();
    put_setting(&zero, 2, 3, 0);
    assert_model_refused(&zero, "model type 0; 1 to 4 are known");
    put_setting(&five, 2, 3, 5);
    assert_model_refused(&five, "model type 5; 1 to 4 are known");
    put_setting(&huge, 2, 3, UINT64_MAX);
    assert_model_refused(&huge, "model type 18446744073709551615; 1 to 4 are known");
}

/* ---- the character map -------------------------------------------------------------------------------------- */

/* A trie of a block of 256 units, in which 'x' becomes the text at `place`, and two replacements, "yy" and "". */
typedef struct map {
    uint32_t size, units[256];
    char texts[4];
} map;

static map map_of(uint32_t place)
{
    map m = {.size = sizeof m.units, .texts = {'y', 'y', '\0', '\0'}};
    m.units[0] = 1u << 10;                             /* children of the root are at 1 ^ label */
    m.units[1 ^ 'x'] = 'x' | 1u << 8 | (uint32_t)(1 ^ 'x' ^ 2) << 10; /* its value is at 2 */
    m.units[2] = 1u << 31 | place;
    return m;
}

static void assert_map_refused(const void *blob, size_t size, const char *message)
{
    model m = two_pieces();
    put_charsmap(&m, blob, size);
    assert_model_refused(&m, message);
}

static void test_map(void **state)
{
    (void)state;
    const map good = map_of(0), empty = map_of(3);
    const char *to = NULL;
    charsmap found;
    assert_int_equal(charsmap_open(&found, (const char *)&good, sizeof good, NULL), RAPT_OK);
    assert_int_equal(charsmap_match(&found, "xx", 2, &to), 1);
    assert_string_equal(to, "yy");
    assert_int_equal(charsmap_match(&found, "ax", 2, &to), 0);
    assert_int_equal(charsmap_match(&found, "", 0, &to), 0);
    assert_int_equal(charsmap_match(&found, "\0", 1, &to), 0);
    assert_int_equal(charsmap_open(&found, (const char *)&empty, sizeof empty, NULL), RAPT_OK);
    assert_int_equal(charsmap_match(&found, "x", 1, &to), 1);
    assert_string_equal(to, "");
}

static void test_bad_maps(void **state)
{
    (void)state;
    map m = map_of(0);
    assert_map_refused(&m, 3, "a character map of 3 bytes");
    assert_map_refused(&m, 4, "a character map of 4 bytes whose trie has 1024");
    assert_map_refused(&m, 1027, "a character map of 1027 bytes whose trie has 1024");
    assert_map_refused(&m, 1028, "the last replacement of the character map does not end");
    assert_map_refused(&m, sizeof m - 2, "the last replacement of the character map does not end");
    m.size = UINT32_MAX;
    assert_map_refused(&m, sizeof m, "whose trie has 4294967295");
    m.size = 1020;
    assert_map_refused(&m, sizeof m, "whose trie has 1020 bytes, no multiple of 1024");
    m.size = 0;
    assert_map_refused(&m, sizeof m, "whose trie has 0 bytes, no multiple of 1024");
    m = map_of(4);
    assert_map_refused(&m, sizeof m, "a replacement at byte 4 of 4");
    m = map_of(UINT32_MAX >> 1);
    assert_map_refused(&m, sizeof m, "a replacement at byte 2147483647 of 4");
    m = map_of(0);
    m.units[2] = 2;
    assert_map_refused(&m, sizeof m, "unit 121 of the character map has no value");
    m = map_of(0);
    m.units[0] = 0;
    assert_map_refused(&m, sizeof m, "the character map does not begin with a root");
    m.units[0] = 1u << 10 | 1u << 8;
    assert_map_refused(&m, sizeof m, "the character map does not begin with a root");
    m.units[0] = 256u << 10;
    assert_map_refused(&m, sizeof m, "unit 0 of the character map leads to unit 256 of 256");
    m.units[0] = 0x7FFFFE00;
    assert_map_refused(&m, sizeof m, "unit 0 of the character map leads to unit");
}

/* ---- rapt's own file ---------------------------------------------------------------------------------------- */

static void test_json(void **state)
{
    (void)state;
    static const char bad[] = "{\"format\": \"rapt-tokenizer\", \"version\": 1, \"type\": \"sentencepiece\", \"model\": \"?\"}";
    static const char none[] = "{\"format\": \"rapt-tokenizer\", \"version\": 1, \"type\": \"sentencepiece\"}";
    static const char empty[] = "{\"format\": \"rapt-tokenizer\", \"version\": 1, \"type\": \"sentencepiece\", \"model\": \"\"}";
    assert_refused(write_file("t.json", bad, sizeof bad - 1), "t.json: \"model\" is not base64");
    assert_refused(write_file("t.json", none, sizeof none - 1), "t.json: \"model\" is not base64");
    assert_refused(write_file("t.json", empty, sizeof empty - 1), "t.json: as a SentencePiece model: no piece");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_fields),  cmocka_unit_test(test_cut_off),    cmocka_unit_test(test_unknown_fields),
        cmocka_unit_test(test_pieces),     cmocka_unit_test(test_same_text),  cmocka_unit_test(test_scores),
        cmocka_unit_test(test_long_piece), cmocka_unit_test(test_bytes_alone), cmocka_unit_test(test_lacks),
        cmocka_unit_test(test_model_types), cmocka_unit_test(test_map),       cmocka_unit_test(test_bad_maps),
        cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
