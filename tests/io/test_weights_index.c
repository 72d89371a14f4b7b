/* tests/io/test_weights_index.c: indices of shards that lead elsewhere, or do not say what is in the shards; files that are not
 * files; folders without tensors. For src/io/weights/weights.c and weights_index.c.
 * Indices as others write them are in test_weights.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "folder.h"
#include "io/weights_folder.h"

#define INDEX "model.safetensors.index.json"
#define SHARD_1 "model-00001-of-00002.safetensors"
#define SHARD_2 "model-00002-of-00002.safetensors"

/* Two shards: a and b, c. */
static void put_shards(void)
{
    put_tensors(SHARD_1, (const char *const[]){"a", "b"}, 2);
    put_tensors(SHARD_2, (const char *const[]){"c"}, 1);
}

static const char *const whole = "{\"metadata\":{\"total_size\":24},\"weight_map\":{\"a\":\"" SHARD_1 "\",\"b\":\"" SHARD_1
                                 "\",\"c\":\"" SHARD_2 "\"}}";

static int fresh_folder(void **state)
{
    int failed = folder_make(state);
    if (!failed)
        put_shards();
    return failed;
}

static weights *opened(const char *name)
{
    rapt_error err = {0};
    weights *w;
    rapt_code code = weights_open(folder_in(name), &w, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(code, RAPT_OK);
    return w;
}

static void all_of_them(void **state)
{
    (void)state;
    put_text(INDEX, whole);
    weights *w = opened("");
    assert_int_equal(weights_count(w), 3);
    assert_int_equal(weights_file_count(w), 2);
    assert_int_equal(weights_find(w, "c")->file, 1);
    assert_null(weights_note(w));
    weights_close(w);
}

/* Names that no file in the folder has. */
static void names_that_lead_elsewhere(void **state)
{
    (void)state;
    static const char *const names[] = {"../x.safetensors", "/etc/passwd", "a/b", ("./" SHARD_1), "C:\\\\x", "..", ".", ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[512];
        snprintf(text, sizeof text, "{\"weight_map\":{\"a\":\"%s\"}}", names[i]);
        put_text(INDEX, text);
        open_refused("", RAPT_ERR_FORMAT, "which is no name of a file in this folder");
    }
    put_text(INDEX, "{\"weight_map\":{\"a\":\"" SHARD_1 "\\u0000/x\"}}");
    open_refused("", RAPT_ERR_FORMAT, INDEX ":1: ");
}

static void indices_that_are_malformed(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", ":1: "},
        {"[]", "it has no weight_map"},
        {"{}", "it has no weight_map"},
        {"{\"weight_map\":{}}", "it has no weight_map"},
        {"{\"weight_map\":[]}", "it has no weight_map"},
        {"{\"weight_map\":{\"a\":1}}", "the file of tensor \"a\" is not a text"},
        {"{\"weight_map\":{\"a\":\"x\",\"a\":\"y\"}}", "duplicate"},
        {"{\"weight_map\":{\"a\":\"x\"}", ":1: "},
        {"{\"weight_map\":{\"a\xFF\":\"x\"}}", ":1: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_text(INDEX, cases[i].text);
        open_refused("", RAPT_ERR_FORMAT, cases[i].says);
    }
}

static void indices_that_do_not_fit(void **state)
{
    (void)state;
    static const struct {
        const char *map, *says;
    } cases[] = {
        {"\"a\":\"" SHARD_1 "\",\"b\":\"" SHARD_1 "\"", NULL}, /* as if there was one file only */
        {"\"a\":\"" SHARD_1 "\",\"c\":\"" SHARD_2 "\"", "it lacks tensor \"b\", which is in " SHARD_1},
        {"\"a\":\"" SHARD_1 "\",\"b\":\"" SHARD_2 "\",\"c\":\"" SHARD_2 "\"",
         "tensor \"b\" is not in " SHARD_2 ", as it says, but in " SHARD_1},
        {"\"a\":\"" SHARD_1 "\",\"b\":\"" SHARD_1 "\",\"c\":\"" SHARD_2 "\",\"d\":\"" SHARD_2 "\"",
         "tensor \"d\" is not in " SHARD_2 ", as it says"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text, "{\"weight_map\":{%s}}", cases[i].map);
        put_text(INDEX, text);
        if (cases[i].says)
            open_refused("", RAPT_ERR_FORMAT, cases[i].says);
        else
            weights_close(opened(""));
    }
}

static void a_tensor_in_two_shards(void **state)
{
    (void)state;
    put_text(INDEX, whole);
    put_tensors(SHARD_2, (const char *const[]){"c", "a"}, 2);
    open_refused("", RAPT_ERR_FORMAT, SHARD_1 ": tensor \"a\" is also in " SHARD_2);
}

static void shards_that_are_not_files(void **state)
{
    (void)state;
    put_text(INDEX, whole);
    unlink(folder_in(SHARD_2));
    open_refused("", RAPT_ERR_NOT_FOUND, SHARD_2);
    assert_int_equal(mkdir(folder_in(SHARD_2), 0777), 0);
    open_refused("", RAPT_ERR_IO, "Is a directory");
    rmdir(folder_in(SHARD_2));
    assert_int_equal(mkfifo(folder_in(SHARD_2), 0666), 0);
    open_refused("", RAPT_ERR_IO, "not a regular file");
    unlink(folder_in(SHARD_2));
    put_text(SHARD_2, "PK\3\4 and no more");
    open_refused("", RAPT_ERR_FORMAT, SHARD_2 ": not a zip archive, or truncated");
    unlink(folder_in(SHARD_2));
    put_text(SHARD_2, "");
    open_refused("", RAPT_ERR_FORMAT, SHARD_2 ": byte 0: the file ends before");
}

/* As in the cache of huggingface_hub. */
static void links_are_followed(void **state)
{
    (void)state;
    put_text(INDEX, whole);
    assert_int_equal(mkdir(folder_in("blobs"), 0777), 0);
    assert_int_equal(rename(folder_in(SHARD_2), folder_in("blobs/c")), 0);
    assert_int_equal(symlink("blobs/c", folder_in(SHARD_2)), 0);
    weights *w = opened("");
    assert_int_equal(weights_count(w), 3);
    weights_close(w);
    unlink(folder_in("blobs/c"));
    open_refused("", RAPT_ERR_NOT_FOUND, SHARD_2);
}

static void totals(void **state)
{
    (void)state;
    static const struct {
        const char *total;
        bool noted;
    } cases[] = {{"24", false}, {"25", true}, {"0", true}, {"24.0", false}, {"-1", false}, {"\"24\"", false}, {"1e300", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text, "{\"metadata\":{\"total_size\":%s}%s", cases[i].total, strchr(whole, ','));
        put_text(INDEX, text);
        weights *w = opened(INDEX);
        assert_int_equal(weights_note(w) != NULL, cases[i].noted);
        if (cases[i].noted)
            assert_non_null(strstr(weights_note(w), "but the tensors have 24 bytes"));
        weights_close(w);
    }
}

/* More files than are mapped at once. */
static void a_hundred_thousand_shards(void **state)
{
    (void)state;
    buffer text = {0};
    char item[64];
    assert_true(buffer_append(&text, "{\"weight_map\":{", 15));
    for (int i = 0; i < 100000; i++)
        assert_true(buffer_append(&text, item, (size_t)snprintf(item, sizeof item, "%s\"t%d\":\"f%d\"", i ? "," : "", i, i)));
    assert_true(buffer_append(&text, "}}", 2));
    put_file(INDEX, text.data, text.size);
    open_refused("", RAPT_ERR_FORMAT, "it names 100000 files; at most 4096 are read");
    buffer_free(&text);
}

static void folders_without_tensors(void **state)
{
    (void)state;
    open_refused("", RAPT_ERR_NOT_FOUND,
                 "it has none of model.safetensors, model.safetensors.index.json, pytorch_model.bin and "
                 "pytorch_model.bin.index.json");
    open_refused("none", RAPT_ERR_NOT_FOUND, "none");
    put_text("pytorch_model.bin", "");
    open_refused("", RAPT_ERR_FORMAT, "not a file of torch.save: no zip archive; it is empty");
    put_text("pytorch_model.bin", "version https://git-lfs.github.com/spec/v1\n");
    open_refused("", RAPT_ERR_FORMAT, "not a file of torch.save: no zip archive");
}

static void files_are_told_apart(void **state)
{
    (void)state;
    put_text(INDEX, whole);
    put_text("recipe.yaml", "task: {translation: 1}\nseed: 1\n");
    assert_int_equal(rename(folder_in(SHARD_2), folder_in("renamed")), 0);
    put_text("zip", "PK\3\4 and no more");
    assert_true(weights_is_file(folder_in(INDEX)));
    assert_true(weights_is_file(folder_in(SHARD_1)));
    assert_true(weights_is_file(folder_in("renamed")));
    assert_true(weights_is_file(folder_in("zip")));
    assert_false(weights_is_file(folder_in("recipe.yaml")));
    assert_false(weights_is_file(folder_in("none.bin")));
    assert_false(weights_is_file(folder_in("")));
    weights_close(opened("renamed"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fresh_folder, folder_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_of_them),
        TEST(names_that_lead_elsewhere),
        TEST(indices_that_are_malformed),
        TEST(indices_that_do_not_fit),
        TEST(a_tensor_in_two_shards),
        TEST(shards_that_are_not_files),
        TEST(links_are_followed),
        TEST(totals),
        TEST(a_hundred_thousand_shards),
        TEST(folders_without_tensors),
        TEST(files_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
