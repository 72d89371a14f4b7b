/* tests/io/test_torch_older.c: files of torch.save before PyTorch 1.6 that are damaged. For src/io/weights/torch_older.c. One
 * that torch itself wrote is in test_weights.c; what the pickle of the dict may hold is in test_torch_file.c.
 * tests/fuzz/fuzz_torch.c is the fuzzer. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "io/weights/torch_file.h"

#include "io/torch_image.h"
#include "io/torch_reads.h"

#define BYTES(text) text, sizeof text - 1

static const float numbers[6] = {1, 2, 3, 4, 5, 6};
static const tensor_image good = {"FloatStorage", "0", 6, 0, 2, 2, {2, 3}, {3, 1}, "N"};

/* The file is refused with these words. Frees it. */
static void refused(image file, const char *says)
{
    rapt_error err = {0};
    torch_file f;
    assert_int_equal(torch_file_read(&f, "x/m.bin", file.bytes, file.size, &err), RAPT_ERR_FORMAT);
    assert_null(f.tensors);
    assert_null(f.names);
    assert_int_equal(strncmp(err.message, "x/m.bin: ", 9), 0);
    assert_null(strchr(err.message, '\n'));
    if (!strstr(err.message, says))
        fail_msg("\"%s\" lacks \"%s\"", err.message, says);
    image_free(&file);
}

/* The dict of one or two tensors, "w" and "v". */
static image pickle_of(const tensor_image *w, const tensor_image *v)
{
    image p = {NULL, 0};
    pickle_put(&p, "\x80\x02}");
    pickle_text(&p, "w");
    pickle_tensor(&p, w);
    pickle_put(&p, "s");
    if (v) {
        pickle_text(&p, "v");
        pickle_tensor(&p, v);
        pickle_put(&p, "s");
    }
    pickle_put(&p, ".");
    return p;
}

static image file_of(const tensor_image *w, const tensor_image *v)
{
    image p = pickle_of(w, v);
    return older_image(&p, numbers, 6, sizeof *numbers);
}

static void two_tensors_of_a_storage(void **state)
{
    (void)state;
    static const tensor_image view = {"FloatStorage", "0", 6, 1, 1, 1, {2}, {3}, "N"};
    rapt_error err = {0};
    torch_file f;
    image file = file_of(&good, &view);
    assert_int_equal(torch_file_read(&f, "m", file.bytes, file.size, &err), RAPT_OK);
    assert_int_equal(f.count, 2);
    assert_string_equal(f.tensors[0].name, "w");
    assert_int_equal(f.tensors[0].dtype, SAFETENSORS_F32);
    assert_true(f.tensors[0].row_major);
    assert_memory_equal(f.tensors[0].data, numbers, sizeof numbers);
    assert_string_equal(f.tensors[1].name, "v");
    assert_false(f.tensors[1].row_major);
    assert_ptr_equal(f.tensors[1].data, f.tensors[0].data + 4);
    torch_file_free(&f);
    image_free(&file);
}

static void storages_in_any_order(void **state)
{
    (void)state;
    static const tensor_image first = {"FloatStorage", "94010", 1, 0, 0, 0, {0}, {0}, "N"};
    static const tensor_image second = {"HalfStorage", "9401", 3, 1, 1, 1, {2}, {1}, "N"};
    rapt_error err = {0};
    torch_file f;
    image p = pickle_of(&first, &second), file = {NULL, 0};
    older_head(&file);
    image_put(&file, p.bytes, p.size);
    pickle_put(&file, "](");
    pickle_text(&file, "9401");
    pickle_text(&file, "94010");
    pickle_put(&file, "e.");
    image_number(&file, 8, 3);
    image_put(&file, "aabbcc", 6);
    image_number(&file, 8, 1);
    image_put(&file, "dddd", 4);
    assert_int_equal(torch_file_read(&f, "m", file.bytes, file.size, &err), RAPT_OK);
    assert_memory_equal(f.tensors[0].data, "dddd", 4);
    assert_memory_equal(f.tensors[1].data, "bbcc", 4);
    torch_file_free(&f);
    image_free(&p);
    image_free(&file);
}

static void tensors_that_do_not_fit(void **state)
{
    (void)state;
    static const struct {
        tensor_image w, v;
        const char *says;
    } cases[] = {
        {{"FloatStorage", "0", 6, 0, 1, 1, {6}, {1}, NULL}, {NULL}, "a storage is not described"},
        {{"FloatStorage", "0", 6, 0, 1, 1, {6}, {1}, "K\1"}, {NULL}, "a storage is not described"},
        {{"FloatStorage", "0", 6, 0, 1, 1, {6}, {1}, "NN"}, {NULL}, "a storage is not described"},
        {{"FloatStorage", "0", 6, 1, 1, 1, {6}, {1}, "N"}, {NULL}, "does not fit into its storage of 6"},
        {{"FloatStorage", "0", 6, 0, 2, 2, {2, 3}, {4, 1}, "N"}, {NULL}, "does not fit into its storage of 6"},
        {{"FloatStorage", "0", 6, INT64_MAX, 1, 1, {6}, {1}, "N"}, {NULL}, "does not fit into its storage of 6"},
        {{"FloatStorage", "0", 7, 0, 1, 1, {6}, {1}, "N"}, {NULL}, "storage 0 has 6 elements, and not 7"},
        {{"FloatStorage", "0", -1, 0, 1, 1, {6}, {1}, "N"}, {NULL}, "a storage is not described"},
        {{"DoubleStorage", "0", 6, 0, 1, 1, {6}, {1}, "N"}, {NULL}, "the file ends within storage 0; is it cut off?"},
        {{"HalfStorage", "0", 6, 0, 1, 1, {6}, {1}, "N"}, {NULL}, "12 bytes follow the last storage"},
        {{"FloatStorage", "1", 6, 0, 1, 1, {6}, {1}, "N"}, {NULL}, "storage 0 of the list is none of the tensors'"},
        {{"FloatStorage", "0", 6, 0, 1, 1, {6}, {1}, "N"}, {"FloatStorage", "1", 6, 0, 1, 1, {6}, {1}, "N"},
         "storage 1 is not in the list of storages"},
        {{"FloatStorage", "0", 6, 0, 1, 1, {6}, {1}, "N"}, {"FloatStorage", "0", 5, 0, 1, 1, {5}, {1}, "N"},
         "storage 0 is described in two ways"},
        {{"FloatStorage", "0", 6, 0, 1, 1, {6}, {1}, "N"}, {"IntStorage", "0", 6, 0, 1, 1, {6}, {1}, "N"},
         "storage 0 is described in two ways"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refused(file_of(&cases[i].w, cases[i].v.type ? &cases[i].v : NULL), cases[i].says);
}

/* What stands before the dict instead of what should. */
static void heads(void **state)
{
    (void)state;
#define NUMBER "\x80\x02\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19."
#define VERSION "\x80\x02M\xE9\x03."
    static const struct {
        const char *head;
        size_t size;
        const char *says;
    } cases[] = {
        {BYTES("\x80\x02\x8A\x0A\x6C"), "does not begin with the number and version"},
        {BYTES("\x80\x02\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x18." VERSION), "does not begin with the number"},
        {BYTES(NUMBER "\x80\x02M\xEA\x03."), "does not begin with the number and version"},
        {BYTES(NUMBER VERSION), "the pickle calls torch._utils._rebuild_tensor_v2; only tensors"},
        {BYTES(NUMBER VERSION "}."), "its third pickle does not say that numbers are little-endian"},
        {BYTES(NUMBER VERSION "\x80\x02N."), "its third pickle does not say"},
        {BYTES(NUMBER VERSION "}X\x0D\0\0\0little_endian\x89s."), "its third pickle does not say"},
        {BYTES(NUMBER VERSION "}X\x0D\0\0\0little_endianK\1s."), "its third pickle does not say"},
        {BYTES(NUMBER VERSION "}X\x0D\0\0\0little_endian\x88sX\x0D\0\0\0little_endian\x89s."), "its third pickle does not say"},
        {BYTES(NUMBER VERSION "cposix\nsystem\n."), "the pickle calls posix.system; only tensors"},
        {BYTES(NUMBER VERSION "ccollections\nOrderedDict\n)R."), "the pickle calls collections.OrderedDict; only tensors"},
        {BYTES(NUMBER VERSION "NQ."), "a storage is described outside the dict of tensors"},
        {BYTES(NUMBER VERSION "}\x93."), "byte 22 of the pickle: instruction 93"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        image p = pickle_of(&good, NULL), file = {NULL, 0};
        image_put(&file, cases[i].head, cases[i].size);
        image_put(&file, p.bytes, p.size);
        image_free(&p);
        refused(file, cases[i].says);
    }
}

/* What stands behind the dict instead of the list of storages and their data. */
static void tails(void **state)
{
    (void)state;
#define DATA "\6\0\0\0\0\0\0\0" "aaaabbbbccccddddeeeeffff"
    static const struct {
        const char *tail;
        size_t size;
        const char *says;
    } cases[] = {
        {BYTES(""), "of the pickle: it has no end; is it cut off?"},
        {BYTES("N."), "it has None, not a list of storages"},
        {BYTES("}."), "it has a dict, not a list of storages"},
        {BYTES("]."), "storage 0 is not in the list of storages"},
        {BYTES("]K\0a."), "the list of storages has an integer, not a key"},
        {BYTES("]Na."), "the list of storages has None, not a key"},
        {BYTES("]X\1\0\0\0" "1a." DATA), "storage 1 of the list is none of the tensors'"},
        {BYTES("]X\2\0\0\0" "00a." DATA), "storage 00 of the list is none of the tensors'"},
        {BYTES("]X\0\0\0\0a." DATA), "storage  of the list is none of the tensors'"},
        {BYTES("](X\1\0\0\0" "0X\1\0\0\0" "0e." DATA), "storage 0 comes twice in the list"},
        {BYTES("]X\1\0\0\0" "0a."), "the file ends before storage 0; is it cut off?"},
        {BYTES("]X\1\0\0\0" "0a.\6\0\0\0\0\0\0"), "the file ends before storage 0; is it cut off?"},
        {BYTES("]X\1\0\0\0" "0a.\6\0\0\0\0\0\0\1" "aaaabbbbccccddddeeeeffff"), "has 72057594037927942 elements, and not 6"},
        {BYTES("]X\1\0\0\0" "0a.\6\0\0\0\0\0\0\0" "aaaabbbbccccddddeeeefff"), "the file ends within storage 0; is it cut off?"},
        {BYTES("]X\1\0\0\0" "0a." DATA "g"), "1 bytes follow the last storage"},
        {BYTES("NQ."), "a storage is described outside the dict of tensors"},
        {BYTES("cposix\nsystem\n."), "the pickle calls posix.system; only tensors"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        image p = pickle_of(&good, NULL), file = {NULL, 0};
        older_head(&file);
        image_put(&file, p.bytes, p.size);
        image_put(&file, cases[i].tail, cases[i].size);
        image_free(&p);
        refused(file, cases[i].says);
    }
}

/* Elements that overflow the number of bytes. */
static void a_huge_storage(void **state)
{
    (void)state;
    static const tensor_image huge = {"DoubleStorage", "0", INT64_C(1) << 61, 0, 1, 1, {1}, {1}, "N"};
    image p = pickle_of(&huge, NULL), file = {NULL, 0};
    older_head(&file);
    image_put(&file, p.bytes, p.size);
    image_put(&file, BYTES("]X\1\0\0\0" "0a.\0\0\0\0\0\0\0\x20" "aaaaaaaa"));
    image_free(&p);
    refused(file, "the file ends within storage 0; is it cut off?");
}

static void a_tar_archive(void **state)
{
    (void)state;
    image tar = {NULL, 0};
    image_put(&tar, "sys_info", 8);
    while (tar.size < 257)
        image_put(&tar, "", 1);
    image_put(&tar, "ustar\00000", 8);
    assert_true(torch_file_begins(tar.bytes, tar.size));
    assert_false(torch_file_begins(tar.bytes, 261));
    refused(tar, "a tar archive, the oldest format of torch.save, which is not read");
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    image file = file_of(&good, NULL);
    for (size_t kept = 0; kept < file.size; kept++)
        assert_false(torch_reads(file.bytes, kept));
    assert_true(torch_reads(file.bytes, file.size));
    image_free(&file);
}

/* No flipped bit leads out of the file, which the sanitizer sees. */
static void every_flipped_bit_stays_in_the_file(void **state)
{
    (void)state;
    image file = file_of(&good, NULL);
    size_t refusals = 0;
    for (size_t bit = 0; bit < 8 * file.size; bit++) {
        file.bytes[bit / 8] = (char)(file.bytes[bit / 8] ^ (1 << bit % 8));
        refusals += !torch_reads(file.bytes, file.size);
        file.bytes[bit / 8] = (char)(file.bytes[bit / 8] ^ (1 << bit % 8));
    }
    assert_true(refusals > file.size);
    image_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_tensors_of_a_storage),
        cmocka_unit_test(storages_in_any_order),
        cmocka_unit_test(tensors_that_do_not_fit),
        cmocka_unit_test(heads),
        cmocka_unit_test(tails),
        cmocka_unit_test(a_huge_storage),
        cmocka_unit_test(a_tar_archive),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(every_flipped_bit_stays_in_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
