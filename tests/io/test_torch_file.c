/* tests/io/test_torch_file.c: files of torch.save that are damaged, or describe something other than tensors. For
 * src/io/weights/torch_file.c, torch_state.c, pickle.c and zip_file.c. Files before PyTorch 1.6 are in test_torch_older.c, those
 * that torch itself wrote in test_weights.c. tests/fuzz/fuzz_torch.c is the fuzzer.
 * labels: arm-first */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "io/weights/torch_file.h"

#include "io/torch_image.h"
#include "io/torch_reads.h"

static const float numbers[6] = {1, 2, 3, 4, 5, 6};
static const tensor_image good = {"FloatStorage", "0", 6, 0, 2, 2, {2, 3}, {3, 1}};

/* The file is refused with these words. Frees it. */
static void refused(image file, const char *says, const char *what)
{
    rapt_error err = {0};
    torch_file f;
    assert_int_equal(torch_file_read(&f, "x/m.bin", file.bytes, file.size, &err), RAPT_ERR_FORMAT);
    assert_null(f.tensors);
    assert_null(f.names);
    assert_int_equal(strncmp(err.message, "x/m.bin: ", 9), 0);
    assert_null(strchr(err.message, '\n'));
    if (!strstr(err.message, says))
        fail_msg("%s: \"%s\" lacks \"%s\"", what, err.message, says);
    image_free(&file);
}

/* A pickle that is a dict with this tensor as "w". */
static image pickle_of(const tensor_image *t)
{
    image p = {NULL, 0};
    pickle_put(&p, "\x80\x02}");
    pickle_text(&p, "w");
    pickle_tensor(&p, t);
    pickle_put(&p, "s.");
    return p;
}

static image file_of(const tensor_image *t)
{
    image p = pickle_of(t);
    return torch_image(&p, numbers, sizeof numbers);
}

static void a_tensor(void **state)
{
    (void)state;
    rapt_error err = {0};
    torch_file f;
    image file = file_of(&good);
    assert_int_equal(torch_file_read(&f, "m", file.bytes, file.size, &err), RAPT_OK);
    assert_int_equal(f.count, 1);
    const weights_tensor *t = &f.tensors[0];
    assert_string_equal(t->name, "w");
    assert_int_equal(t->dtype, SAFETENSORS_F32);
    assert_int_equal(t->ndim, 2);
    assert_int_equal(t->shape[0], 2);
    assert_int_equal(t->shape[1], 3);
    assert_int_equal(t->bytes, 24);
    assert_true(t->row_major);
    assert_memory_equal(t->data, numbers, sizeof numbers);
    torch_file_free(&f);
    image_free(&file);
}

/* What is wrong with a tensor's description. */
static void tensors_that_do_not_fit(void **state)
{
    (void)state;
    static const struct {
        tensor_image tensor;
        const char *says;
    } cases[] = {
        {{"FloatStorage", "1", 6, 0, 1, 1, {6}, {1}}, "has no storage 1"},
        {{"FloatStorage", "../0", 6, 0, 1, 1, {6}, {1}}, "has no storage ../0"},
        {{"FloatStorage", "a\nb", 6, 0, 1, 1, {6}, {1}}, "has no storage a?b"},
        {{"FloatStorage", "0", 7, 0, 1, 1, {6}, {1}}, "storage 0 has 24 bytes, and not 7 elements of F32"},
        {{"FloatStorage", "0", 5, 0, 1, 1, {5}, {1}}, "storage 0 has 24 bytes, and not 5 elements of F32"},
        {{"FloatStorage", "0", -6, 0, 1, 1, {6}, {1}}, "a storage is not described"},
        {{"DoubleStorage", "0", 6, 0, 1, 1, {6}, {1}}, "storage 0 has 24 bytes, and not 6 elements of F64"},
        {{"ComplexFloatStorage", "0", 6, 0, 1, 1, {6}, {1}}, "the pickle calls torch.ComplexFloatStorage"},
        {{"_utils._rebuild_tensor_v2", "0", 6, 0, 1, 1, {6}, {1}}, "a storage is not described"},
        {{"FloatStorage", "0", 6, 1, 1, 1, {6}, {1}}, "does not fit into its storage of 6"},
        {{"FloatStorage", "0", 6, 7, 1, 1, {0}, {1}}, "does not fit"},
        {{"FloatStorage", "0", 6, INT64_MAX, 1, 1, {2}, {1}}, "does not fit"},
        {{"FloatStorage", "0", 6, -1, 1, 1, {1}, {1}}, "not described"},
        {{"FloatStorage", "0", 6, 0, 2, 2, {2, 3}, {4, 1}}, "does not fit"},
        {{"FloatStorage", "0", 6, 0, 1, 1, {2}, {-1}}, "not described"},
        {{"FloatStorage", "0", 6, 0, 1, 1, {-1}, {1}}, "not described"},
        {{"FloatStorage", "0", 6, 0, 1, 2, {6}, {1, 1}}, "not described"},
        {{"FloatStorage", "0", 6, 0, 9, 9, {1, 1, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1, 1}}, "at most 8 sizes"},
        {{"FloatStorage", "0", 6, 0, 2, 2, {INT64_C(1) << 32, INT64_C(1) << 32}, {0, 0}}, "overflows"},
        {{"FloatStorage", "0", 6, 0, 1, 1, {INT64_C(1) << 60}, {0}}, "does not fit"},
        {{"FloatStorage", "0", 6, 0, 1, 1, {7}, {0}}, "does not fit"},
        {{"FloatStorage", "0", 6, 0, 1, 1, {3}, {INT64_MAX}}, "does not fit"},
        {{"FloatStorage", "0", 6, 1, 1, 1, {2}, {INT64_MAX}}, "does not fit"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refused(file_of(&cases[i].tensor), cases[i].says, cases[i].says);
}

/* Instructions, and their bytes where they have NULs. */
#define BYTES(text) text, sizeof text - 1
static const struct {
    const char *pickle;
    size_t size;
    const char *says;
} foreign[] = {
    {BYTES(""), "byte 0 of the pickle: it has no end"},
    {BYTES("\x80\x02"), "byte 2 of the pickle: it has no end"},
    {BYTES("\x80\x04}."), "not of protocol 2"},
    {BYTES("\x80"), "ends within an instruction"},
    {BYTES("}"), "has no end"},
    {BYTES("."), "leaves other than one value"},
    {BYTES("}}."), "leaves other than one value"},
    {BYTES("(."), "an instruction lacks its operand"},
    {BYTES("N."), "it holds None, not a dict"},
    {BYTES("K\1."), "it holds an integer"},
    {BYTES("G\0\0\0\0\0\0\0\0."), "it holds a float"},
    {BYTES("]."), "it holds a list"},
    {BYTES(")."), "it holds a tuple"},
    {BYTES("\x88."), "it holds a bool"},
    {BYTES("X\1\0\0\0a."), "it holds a text"},
    {BYTES("ccollections\nOrderedDict\n."), "it holds a function"},
    {BYTES("}K\1K\2s."), "a key that is an integer"},
    {BYTES("}X\1\0\0\0aK\2s."), "\"a\" is an integer, not a tensor"},
    {BYTES("}X\1\0\0\0a}s."), "\"a\" is a dict, not a tensor; is this a checkpoint"},
    {BYTES("}X\1\0\0\0\n}s."), "\"?\" is a dict"},
    {BYTES("cposix\nsystem\n(X\4\0\0\0echotR."), "the pickle calls posix.system; only tensors are read"},
    {BYTES("cbuiltins\neval\n(X\1\0\0\0" "1tR."), "the pickle calls builtins.eval"},
    {BYTES("ctorch.storage\n_load_from_bytes\n(tR."), "the pickle calls torch.storage._load_from_bytes"},
    {BYTES("ccollections\nOrderedDict"), "ends within a name"},
    {BYTES("ccollections\nOrderedDictionary\n."), "the pickle calls collections.OrderedDictionary"},
    {BYTES("ccollections.OrderedDict\n\n."), "the pickle calls collections.OrderedDict.;"},
    {BYTES("ccollections\nOrderedDict\n(K\1tR."), "the pickle calls collections.OrderedDict with arguments"},
    {BYTES("ccollections\nOrderedDict\n]R."), "it calls what is no function"},
    {BYTES("})R."), "it calls what is no function"},
    {BYTES(")R."), "lacks its operand"},
    {BYTES("ctorch\nFloatStorage\n(K\1tR."), "the pickle calls a storage type with arguments"},
    {BYTES("ctorch._utils\n_rebuild_parameter\n)R."), "_rebuild_parameter with arguments"},
    {BYTES("ctorch._utils\n_rebuild_parameter\n(K\1tR."), "_rebuild_parameter with arguments"},
    {BYTES("ctorch._utils\n_rebuild_tensor_v2\n)R."), "tensor 0 is not described"},
    {BYTES("ctorch._utils\n_rebuild_tensor_v2\n(K\1K\1K\1K\1K\1K\1tR."), "tensor 0 is not described"},
    {BYTES("NQ."), "a storage is not described"},
    {BYTES(")Q."), "a storage is not described"},
    {BYTES("Q."), "lacks its operand"},
    {BYTES("h\0."), "it has not put into its memo"},
    {BYTES("}q\1."), "its memo has a gap"},
    {BYTES("}r\xFF\xFF\xFF\xFF."), "its memo has a gap"},
    {BYTES("q\0."), "lacks its operand"},
    {BYTES("(q\0."), "lacks its operand"},
    {BYTES("}q"), "ends within an instruction"},
    {BYTES("t."), "a sequence has no beginning"},
    {BYTES("u."), "a sequence has no beginning"},
    {BYTES("e."), "a sequence has no beginning"},
    {BYTES("(u."), "items are set in what is no dict"},
    {BYTES("](u."), "items are set in what is no dict"},
    {BYTES("}(e."), "values are put into what is no list"},
    {BYTES("}Na."), "values are put into what is no list"},
    {BYTES("a."), "lacks its operand"},
    {BYTES("(a."), "lacks its operand"},
    {BYTES("s."), "lacks its operand"},
    {BYTES("}Ns."), "items are set in what is no dict"},
    {BYTES("}(Ns."), "a dict lacks a key"},
    {BYTES("}(N(Nu."), "items are set in what is no dict"},
    {BYTES("}(Nu."), "a key of a dict has no value"},
    {BYTES("\x85."), "a tuple lacks a value"},
    {BYTES("N\x86."), "a tuple lacks a value"},
    {BYTES("N(N\x86."), "a tuple lacks a value"},
    {BYTES("b."), "lacks its operand"},
    {BYTES("]}b."), "sets attributes of something other than a dict"},
    {BYTES("}Nb."), "sets attributes of something other than a dict"},
    {BYTES("X\xFF\xFF\xFF\xFFx."), "ends within a text"},
    {BYTES("X\1\0\0\0\xFF."), "not UTF-8"},
    {BYTES("X\1\0\0\0\0."), "has a NUL"},
    {BYTES("\x8A\x09" "123456789."), "more than 64 bits"},
    {BYTES("\x8A\x08" "1234"), "ends within an instruction"},
    {BYTES("iposix\nsystem\n."), "instruction 69 is none that describes tensors"},
    {BYTES("\x93."), "instruction 93"},
    {BYTES("\x81."), "instruction 81"},
    {BYTES("P1\n."), "instruction 50"},
};

static void pickles_that_describe_no_tensors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        image p = {NULL, 0};
        image_put(&p, foreign[i].pickle, foreign[i].size);
        refused(torch_image(&p, numbers, sizeof numbers), foreign[i].says, foreign[i].pickle);
    }
}

/* Neither the C stack nor much memory is needed for what is nested or refers to itself. */
static void deep_pickles(void **state)
{
    (void)state;
    enum { DEEP = 100000 };
    image nested = {NULL, 0}, marks = {NULL, 0}, own = {NULL, 0};
    for (int i = 0; i < DEEP; i++) {
        pickle_put(&nested, "]");
        pickle_put(&marks, "(");
    }
    for (int i = 0; i < DEEP - 1; i++)
        pickle_put(&nested, "a");
    pickle_put(&nested, ".");
    pickle_put(&own, "]q");
    image_number(&own, 1, 0);
    pickle_put(&own, "h");
    image_number(&own, 1, 0);
    pickle_put(&own, "a.");
    refused(torch_image(&nested, numbers, sizeof numbers), "it holds a list", "nested lists");
    refused(torch_image(&marks, numbers, sizeof numbers), "it has no end", "marks");
    refused(torch_image(&own, numbers, sizeof numbers), "it holds a list", "a list within itself");
}

/* ---- archives ----------------------------------------------------------------------------------------------- */

static void archives_that_are_damaged(void **state)
{
    (void)state;
    static const struct {
        zip_wrongs wrongs;
        unsigned count;
        const char *says;
    } cases[] = {
        {{.method = 8}, 0, "\"archive/data.pkl\" of the zip archive is compressed"},
        {{.flags = 1}, 0, "is encrypted"},
        {{.local_name = "archive/data.pkx"}, 0, "has another name in its header"},
        {{.local_name = "archive/data.pk"}, 0, "has another name in its header"},
        {{.more = 1000000}, 0, "ends beyond the archive's data"},
        {{.sized_64 = true, .more = 1000000}, 0, "ends beyond the archive's data"},
        {{.sized_64 = true, .cut_64 = true}, 0, "has a damaged record"},
        {{.method = 0}, 4, "the directory of the zip archive is damaged"},
        {{.method = 0}, 60000, "more entries than its directory can hold"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zip_image z = {.count = 0};
        image p = pickle_of(&good);
        zip_put(&z, "archive/data.pkl", p.bytes, p.size, &cases[i].wrongs);
        zip_put(&z, "archive/data/0", numbers, sizeof numbers, NULL);
        zip_put(&z, "archive/.data/serialization_id", "3", 1, NULL);
        image_free(&p);
        refused(zip_end(&z, cases[i].count), cases[i].says, cases[i].says);
    }
}

/* Archives of an entry or two with the good pickle. */
static image with_entries(const char *first, const char *second)
{
    zip_image z = {.count = 0};
    image p = pickle_of(&good);
    zip_put(&z, first, p.bytes, p.size, NULL);
    zip_put(&z, second, "big", 3, NULL);
    image_free(&p);
    return zip_end(&z, 0);
}

static void archives_of_other_things(void **state)
{
    (void)state;
    image empty = {NULL, 0}, text = {NULL, 0};
    zip_image none = {.count = 0};
    refused(empty, "not a zip archive", "empty");
    image_put(&text, BYTES("task: translation, which is no archive"));
    refused(text, "not a zip archive", "text");
    refused(zip_end(&none, 0), "has no NAME/data.pkl", "an archive without entries");
    refused(with_entries("data.pkl", "a"), "has no NAME/data.pkl", "no folder");
    refused(with_entries("a/b/data.pkl", "a"), "has no NAME/data.pkl", "two folders");
    refused(with_entries("a/data.pkl", "b/data.pkl"), "more than one data.pkl", "two pickles");
    refused(with_entries("a/data.pkl", "a/data.pkl"), "\"a/data.pkl\" of the zip archive comes twice", "the same name");
    refused(with_entries("a/data.pkl", "a/byteorder"), "not little-endian", "byte order");
    refused(with_entries("a/data.pkl", "a/x"), "has no storage 0", "no storage");
}

static void sizes_of_64_bits(void **state)
{
    (void)state;
    rapt_error err = {0};
    torch_file f;
    zip_image z = {.count = 0};
    image p = pickle_of(&good);
    zip_put(&z, "m/data.pkl", p.bytes, p.size, &(zip_wrongs){.sized_64 = true});
    zip_put(&z, "m/data/0", numbers, sizeof numbers, &(zip_wrongs){.sized_64 = true});
    image_free(&p);
    image file = zip_end(&z, 0);
    assert_int_equal(torch_file_read(&f, "m", file.bytes, file.size, &err), RAPT_OK);
    assert_memory_equal(f.tensors[0].data, numbers, sizeof numbers);
    torch_file_free(&f);
    image_free(&file);
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    image file = file_of(&good);
    for (size_t kept = 0; kept < file.size; kept++)
        assert_false(torch_reads(file.bytes, kept));
    assert_true(torch_reads(file.bytes, file.size));
    image_free(&file);
}

/* Not every flipped bit is noticed, as there is no checksum; but none leads out of the file, which the sanitizer sees. */
static void every_flipped_bit_stays_in_the_file(void **state)
{
    (void)state;
    image file = file_of(&good);
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
        cmocka_unit_test(a_tensor),
        cmocka_unit_test(tensors_that_do_not_fit),
        cmocka_unit_test(pickles_that_describe_no_tensors),
        cmocka_unit_test(deep_pickles),
        cmocka_unit_test(archives_that_are_damaged),
        cmocka_unit_test(archives_of_other_things),
        cmocka_unit_test(sizes_of_64_bits),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(every_flipped_bit_stays_in_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
