/* tests/io/test_safetensors.c: the safetensors format, out and in, against bytes made by hand. For src/io/safetensors*.c. The
 * checksums below come from another implementation (Python's xxhash). tests/fuzz/fuzz_safetensors.c is the fuzzer.
 * labels: arm-first */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "base/file.h"
#include "folder.h"
#include "io/safetensors.h"

static char path[FOLDER_ROOM];

static int make_folder(void **state)
{
    if (folder_make(state))
        return -1;
    strcpy(path, folder_in("m.safetensors"));
    return 0;
}

static int remove_folder(void **state)
{
    unlink(path);
    return folder_remove_empty(state);
}

static const float a[3] = {1.0f, 2.0f, -0.5f};
static const int64_t b[2] = {7, -1};
static const uint8_t c[3] = {1, 2, 3};
static const safetensors_entry three[3] = {
    {"a", SAFETENSORS_F32, 1, {3}, a, 12},
    {"b", SAFETENSORS_I64, 2, {2, 1}, b, 16},
    {"c", SAFETENSORS_U8, 1, {3}, c, 3},
};
static const char *const format_pt[] = {"format", "pt", NULL};

static void write_three(void)
{
    rapt_error err = {0};
    rapt_code code = safetensors_write(path, three, 3, format_pt, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(code, RAPT_OK);
}

static char *file_bytes(size_t *size)
{
    char *bytes;
    assert_int_equal(file_read(path, 1 << 20, &bytes, size, NULL), RAPT_OK);
    return bytes;
}

/* A safetensors file in memory: the header as given, then `data_size` bytes 0, 1, 2, ... */
static char *by_hand(const char *header, size_t data_size, size_t *size)
{
    uint64_t length = strlen(header);
    *size = 8 + length + data_size;
    char *bytes = malloc(*size);
    memcpy(bytes, &length, 8);
    memcpy(bytes + 8, header, length);
    for (size_t i = 0; i < data_size; i++)
        bytes[8 + length + i] = (char)i;
    return bytes;
}

static void bytes_are_the_formats(void **state)
{
    (void)state;
    const char *header = "{\"__metadata__\":{\"format\":\"pt\",\"xxh3_64\":\"54591b8ccacd2b1a\","
                         "\"xxh3_64_header\":\"9584b86379413b32\"},"
                         "\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[16,28]},"
                         "\"b\":{\"dtype\":\"I64\",\"shape\":[2,1],\"data_offsets\":[0,16]},"
                         "\"c\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[28,31]}}  ";
    const uint8_t data[31] = {7, 0, 0,    0,    0, 0, 0, 0,    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                              0, 0, 0x80, 0x3F, 0, 0, 0, 0x40, 0,    0,    0,    0xBF, 1,    2,    3};
    write_three();
    size_t size;
    char *bytes = file_bytes(&size);
    assert_int_equal(size, 8 + 264 + 31);
    assert_memory_equal(bytes, "\x08\x01\0\0\0\0\0\0", 8); /* 264 */
    assert_memory_equal(bytes + 8, header, 264);
    assert_memory_equal(bytes + 8 + 264, data, 31);
    free(bytes);
}

static void no_tensors_at_all(void **state)
{
    (void)state;
    rapt_error err = {0};
    safetensors *s;
    assert_int_equal(safetensors_write(path, NULL, 0, NULL, &err), RAPT_OK);
    assert_int_equal(safetensors_open(path, &s, &err), RAPT_OK);
    assert_int_equal(safetensors_count(s), 0);
    assert_string_equal(safetensors_metadata(s, "xxh3_64"), "2d06800538d394c2"); /* XXH3-64 of no bytes */
    assert_null(safetensors_find(s, "a"));
    assert_null(safetensors_metadata(s, "format"));
    safetensors_close(s);
}

static void round_trip(void **state)
{
    (void)state;
    const double pi = 3.141592653589793;
    const int32_t grid[6] = {1, -2, 3, -4, 5, -6};
    const safetensors_entry entries[4] = {
        {"empty", SAFETENSORS_F32, 3, {2, 0, 5}, NULL, 0},
        {"caf\xC3\xA9 \"quoted\"\n", SAFETENSORS_U8, 1, {3}, c, 3},
        {"scalar", SAFETENSORS_F64, 0, {0}, &pi, 8},
        {"grid", SAFETENSORS_I32, 2, {2, 3}, grid, 24},
    };
    const char *const metadata[] = {"step", "12", "text", "{\"a\": [1]}", NULL};
    rapt_error err = {0};
    safetensors *s;
    assert_int_equal(safetensors_write(path, entries, 4, metadata, &err), RAPT_OK);
    assert_int_equal(safetensors_open(path, &s, &err), RAPT_OK);
    assert_int_equal(safetensors_count(s), 4);
    for (size_t i = 0; i < 4; i++) {
        const safetensors_entry *e = safetensors_at(s, i);
        assert_ptr_equal(e, safetensors_find(s, entries[i].name));
        assert_string_equal(e->name, entries[i].name);
        assert_int_equal(e->dtype, entries[i].dtype);
        assert_int_equal(e->ndim, entries[i].ndim);
        assert_int_equal(e->bytes, entries[i].bytes);
        assert_memory_equal(e->shape, entries[i].shape, sizeof e->shape);
        if (e->bytes > 0)
            assert_memory_equal(e->data, entries[i].data, e->bytes);
        assert_int_equal((uintptr_t)e->data % safetensors_dtype_bytes(e->dtype), 0);
    }
    assert_string_equal(safetensors_metadata(s, "step"), "12");
    assert_string_equal(safetensors_metadata(s, "text"), "{\"a\": [1]}");
    safetensors_close(s);
}

static void writer_refuses(void **state)
{
    (void)state;
    static const struct {
        safetensors_entry second;
        const char *metadata[5];
        const char *says;
    } cases[] = {
        {{"a", SAFETENSORS_U8, 1, {3}, c, 3}, {NULL}, "\"a\" is reserved or comes twice"},
        {{"__metadata__", SAFETENSORS_U8, 1, {3}, c, 3}, {NULL}, "is reserved"},
        {{"b\xFF", SAFETENSORS_U8, 1, {3}, c, 3}, {NULL}, "not UTF-8"},
        {{NULL, SAFETENSORS_U8, 1, {3}, c, 3}, {NULL}, "has no name"},
        {{"b", SAFETENSORS_F32, 1, {3}, c, 3}, {NULL}, "not those of its shape"},
        {{"b", SAFETENSORS_U8, 1, {3}, NULL, 3}, {NULL}, "has no data"},
        {{"b", SAFETENSORS_U8, 9, {1}, c, 3}, {NULL}, "not 0 to 8"},
        {{"b", SAFETENSORS_DTYPE_COUNT, 1, {3}, c, 3}, {NULL}, "type is unknown"},
        {{"b", SAFETENSORS_F32, 2, {SIZE_MAX / 2, 9}, c, 3}, {NULL}, "its shape"},
        {{"b", SAFETENSORS_U8, 1, {SIZE_MAX / 2}, c, SIZE_MAX / 2}, {NULL}, "too large"},
        {{"b", SAFETENSORS_U8, 1, {3}, c, 3}, {"k", "1", "k", "2", NULL}, "comes twice"},
        {{"b", SAFETENSORS_U8, 1, {3}, c, 3}, {"k", "\xC3", NULL}, "UTF-8"},
        {{"b", SAFETENSORS_U8, 1, {3}, c, 3}, {"xxh3_64", "1", NULL}, "reserved"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err = {0};
        const safetensors_entry entries[2] = {{"a", SAFETENSORS_U8, 1, {3}, c, 3}, cases[i].second};
        assert_int_equal(safetensors_write(path, entries, 2, cases[i].metadata, &err), RAPT_ERR_VALUE);
        if (!strstr(err.message, cases[i].says))
            fail_msg("case %zu: \"%s\" lacks \"%s\"", i, err.message, cases[i].says);
        assert_int_equal(folder_entries(folder_path), 0);
    }
}

/* What a reader must refuse: a header, the size of the data behind it, and words of the message. */
static const struct {
    const char *header;
    size_t data;
    const char *says;
} malformed[] = {
    {"", 0, "byte 8: the header does not start with {"},
    {" {}", 0, "byte 8: the header does not start with {"},
    {"[]", 0, "byte 8: the header does not start with {"},
    {"{", 0, "byte 9: "},
    {"{\"a\":", 4, "byte 13: "},
    {"{} x", 0, "byte 12: "},
    {"{\"a\xFF\":1}", 0, "byte 11: "},
    {"{\"a\":1}", 0, "tensor \"a\": it is not an object"},
    {"{\"a\":{}}", 0, "tensor \"a\": it has no dtype"},
    {"{\"__metadata__\":[]}", 0, "__metadata__ is not an object of texts"},
    {"{\"__metadata__\":{\"k\":1}}", 0, "metadata \"k\" is not a text"},
    {"{\"__metadata__\":{\"k\":\"1\",\"k\":\"1\"}}", 0, "duplicate"},
    {"{\"a\":{\"dtype\":\"Q5\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "dtype Q5 is not one of"},
    {"{\"a\":{\"dtype\":7,\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "has no dtype"},
    {"{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4, "its shape is not a list of at most 8 sizes"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]}}", 4,
     "at most 8 sizes"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4,
     "other than a whole number from 0"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1.0],\"data_offsets\":[0,4]}}", 4,
     "other than a whole number from 0"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[99999999999999999999],\"data_offsets\":[0,4]}}", 4,
     "too big integer"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0, "overflows"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904],\"data_offsets\":[0,0]}}", 0, "overflows"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "data_offsets are not two"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4, "data_offsets are not two"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,8]}}", 4, "data_offsets are not two"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[-4,0]}}", 4, "data_offsets are not two"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 4, "data_offsets are 4 to 0, but"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,8]}}", 8, "but the shape needs 4 bytes"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 7,
     "byte 69: the file ends before byte 70"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[9000000000000000000],\"data_offsets\":[0,9000000000000000000]}}", 4,
     "the file ends before"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 8,
     "byte 66: data that belongs to no tensor"},
    {"{}", 1, "byte 10: data that belongs to no tensor"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8,
     "\"a\": there is a hole before it"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
     "\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[2,6]}}",
     6, "\"b\": it overlaps another tensor"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
     "\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[4,8]}}",
     8, "duplicate"},
    {"{\"__metadata__\":{\"xxh3_64\":\"54591b8ccacd2b1b\"}}", 0,
     "the checksum of its data is 2d06800538d394c2"},
    {"{\"__metadata__\":{\"xxh3_64_header\":\"54591b8ccacd2b1b\"}}", 0, "the checksum of its header is"},
};

static void reader_refuses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        rapt_error err = {0};
        safetensors *s;
        size_t size;
        char *bytes = by_hand(malformed[i].header, malformed[i].data, &size);
        assert_int_equal(safetensors_parse("x/m.st", bytes, size, &s, &err), RAPT_ERR_FORMAT);
        assert_null(s);
        assert_int_equal(strncmp(err.message, "x/m.st: ", 8), 0);
        assert_null(strchr(err.message, '\n'));
        if (!strstr(err.message, malformed[i].says))
            fail_msg("%s: \"%s\" lacks \"%s\"", malformed[i].header, err.message, malformed[i].says);
    }
}

static rapt_code parse_copy(const char *bytes, size_t size, safetensors **s, rapt_error *err)
{
    char *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    return safetensors_parse("m", copy, size, s, err);
}

static void absurd_header_lengths(void **state)
{
    (void)state;
    static const char *const starts[] = {"\x03\0\0\0\0\0\0\0{}", "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF{}",
                                         "\xF8\xFF\xFF\xFF\xFF\xFF\xFF\xFF{}", "\x01\xE1\xF5\x05\0\0\0\0{}"};
    static const char *const says[] = {"within the header", "100 MB", "100 MB", "100 MB"};
    for (size_t i = 0; i < 4; i++) {
        rapt_error err = {0};
        safetensors *s;
        assert_int_equal(parse_copy(starts[i], 10, &s, &err), RAPT_ERR_FORMAT);
        assert_non_null(strstr(err.message, says[i]));
    }
}

static void every_cut_is_noticed(void **state)
{
    (void)state;
    write_three();
    size_t size;
    char *bytes = file_bytes(&size);
    for (size_t kept = 0; kept < size; kept++) {
        rapt_error err = {0};
        safetensors *s;
        assert_int_equal(parse_copy(bytes, kept, &s, &err), RAPT_ERR_FORMAT);
        assert_null(s);
    }
    free(bytes);
}

static bool reads_as_three(const safetensors *s)
{
    bool same = safetensors_count(s) == 3 && safetensors_metadata(s, "format");
    for (size_t i = 0; same && i < 3; i++) {
        const safetensors_entry *e = safetensors_at(s, i);
        same = strcmp(e->name, three[i].name) == 0 && e->dtype == three[i].dtype &&
               e->ndim == three[i].ndim && memcmp(e->shape, three[i].shape, sizeof e->shape) == 0 &&
               memcmp(e->data, three[i].data, e->bytes) == 0;
    }
    return same && strcmp(safetensors_metadata(s, "format"), "pt") == 0;
}

/* Each of the file's bits is flipped in turn. The file is refused, or, where the flip hit only the name of a
 * checksum, nothing else has changed. Flips in the data are always refused. */
static void every_flipped_bit_is_noticed(void **state)
{
    (void)state;
    write_three();
    size_t size, read = 0;
    char *bytes = file_bytes(&size);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        rapt_error err = {0};
        safetensors *s;
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ (1 << bit % 8));
        if (parse_copy(bytes, size, &s, &err) == RAPT_OK) {
            assert_true(bit / 8 < size - 31);
            assert_true(reads_as_three(s));
            safetensors_close(s);
            read++;
        }
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ (1 << bit % 8));
    }
    assert_true(read <= 8 * strlen("xxh3_64_header"));
    free(bytes);
}

static void foreign_layouts_are_aligned(void **state)
{
    (void)state;
    /* no padding, a narrow tensor first, the header not in the data's order, an unknown field, a space behind
     */
    const char *header = "{\"w\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[1,9],\"note\":null},"
                         "\"n\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
                         "\"z\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[1,1]}}\n ";
    size_t size;
    char *bytes = by_hand(header, 9, &size);
    rapt_error err = {0};
    safetensors *s;
    assert_int_equal(safetensors_parse("m", bytes, size, &s, &err), RAPT_OK);
    const safetensors_entry *w = safetensors_find(s, "w");
    assert_int_equal((uintptr_t)w->data % 8, 0);
    assert_memory_equal(w->data, "\1\2\3\4\5\6\7\x08", 8);
    assert_memory_equal(safetensors_find(s, "n")->data, "\0", 1);
    assert_string_equal(safetensors_at(s, 0)->name, "w");
    safetensors_close(s);
}

static void unreadable_paths(void **state)
{
    (void)state;
    rapt_error err = {0};
    safetensors *s;
    assert_int_equal(safetensors_open("/nowhere/m.safetensors", &s, &err), RAPT_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "/nowhere/m.safetensors"));
    assert_null(s);
    err = (rapt_error){0};
    assert_int_equal(safetensors_open(folder_path, &s, &err), RAPT_ERR_IO);
    err = (rapt_error){0};
    assert_int_equal(safetensors_open("/dev/null", &s, &err), RAPT_ERR_IO);
    assert_non_null(strstr(err.message, "not a regular file"));
}

static void an_empty_file(void **state)
{
    (void)state;
    rapt_error err = {0};
    safetensors *s;
    char wanted[FOLDER_ROOM + 80];
    assert_int_equal(file_write_atomic(path, "", 0, NULL), RAPT_OK);
    assert_int_equal(safetensors_open(path, &s, &err), RAPT_ERR_FORMAT);
    snprintf(wanted, sizeof wanted, "%s: byte 0: the file ends before the 8 bytes of the header's length", path);
    assert_string_equal(err.message, wanted);
}

/* Its bytes come from the file that was opened. */
static void another_file_in_its_place(void **state)
{
    (void)state;
    rapt_error err = {0};
    safetensors *s;
    write_three();
    assert_int_equal(safetensors_open(path, &s, &err), RAPT_OK);
    assert_int_equal(safetensors_write(path, NULL, 0, NULL, &err), RAPT_OK);
    assert_int_equal(safetensors_count(s), 3);
    assert_memory_equal(safetensors_find(s, "a")->data, a, sizeof a);
    safetensors_close(s);
}

static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A limit on the size of files makes write() fail half-way, as a full disk does. */
static void failed_write_leaves_the_old_file(void **state)
{
    (void)state;
    static float large[4096];
    const safetensors_entry entry = {"large", SAFETENSORS_F32, 1, {4096}, large, sizeof large};
    rapt_error err = {0};
    write_three();
    signal(SIGXFSZ, SIG_IGN);
    limit_file_size(4096);
    rapt_code code = safetensors_write(path, &entry, 1, NULL, &err);
    limit_file_size(RLIM_INFINITY);
    assert_int_equal(code, RAPT_ERR_IO);
    assert_non_null(strstr(err.message, path));
    assert_int_equal(folder_entries(folder_path), 1);
    safetensors *s;
    assert_int_equal(safetensors_open(path, &s, NULL), RAPT_OK);
    assert_true(reads_as_three(s));
    safetensors_close(s);
    assert_int_not_equal(safetensors_write("/nowhere/m.safetensors", three, 3, NULL, &err), RAPT_OK);
}

static void python_reads_it(void **state)
{
    (void)state;
    if (system("python3 -c 'import numpy, safetensors.numpy' 2>/dev/null") != 0) {
        print_message("no python3 with numpy and safetensors\n");
        skip();
    }
    write_three();
    char command[1024];
    snprintf(command, sizeof command,
             "python3 -c \"import safetensors.numpy as s, safetensors; t = s.load_file('%s');"
             "assert t['a'].tolist() == [1, 2, -0.5] and t['b'].tolist() == [[7], [-1]] and t['c'].tolist() "
             "== [1, 2, 3];"
             "assert str(t['a'].dtype) == 'float32';"
             "assert safetensors.safe_open('%s', 'np').metadata()['format'] == 'pt'\"",
             path, path);
    assert_int_equal(system(command), 0);
}

static void we_read_pythons(void **state)
{
    (void)state;
    if (system("python3 -c 'import numpy, safetensors.numpy' 2>/dev/null") != 0) {
        print_message("no python3 with numpy and safetensors\n");
        skip();
    }
    char command[1024];
    snprintf(command, sizeof command,
             "python3 -c \"import numpy as n, safetensors.numpy as s; s.save_file({'c': n.array([1, 2, 3], "
             "n.uint8),"
             "'b': n.array([[7], [-1]]), 'a': n.array([1, 2, -.5], n.float32)}, '%s', {'format': 'pt'})\"",
             path);
    assert_int_equal(system(command), 0);
    rapt_error err = {0};
    safetensors *s;
    assert_int_equal(safetensors_open(path, &s, &err), RAPT_OK);
    for (size_t i = 0; i < 3; i++) {
        const safetensors_entry *e = safetensors_find(s, three[i].name);
        assert_non_null(e);
        assert_int_equal(e->dtype, three[i].dtype);
        assert_memory_equal(e->data, three[i].data, three[i].bytes);
    }
    assert_string_equal(safetensors_metadata(s, "format"), "pt");
    safetensors_close(s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bytes_are_the_formats),
        TEST(no_tensors_at_all),
        TEST(round_trip),
        TEST(writer_refuses),
        TEST(reader_refuses),
        TEST(absurd_header_lengths),
        TEST(every_cut_is_noticed),
        TEST(every_flipped_bit_is_noticed),
        TEST(foreign_layouts_are_aligned),
        TEST(unreadable_paths),
        TEST(an_empty_file),
        TEST(another_file_in_its_place),
        TEST(failed_write_leaves_the_old_file),
        TEST(python_reads_it),
        TEST(we_read_pythons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
