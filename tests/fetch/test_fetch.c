/* test_fetch.c: fetch_get on files of this machine (file:), whose sums are known from FIPS 180-4's example "abc". What a server
 * does is tried in tests/cli/check_fetch.sh. */
#define _GNU_SOURCE
#include "fetch/fetch.h"

#include "fetch/module/get_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "folder.h"

#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

/* "abc" as gzip packs it. */
static const unsigned char PACKED[] = {0x1f, 0x8b, 0x8, 0, 0, 0, 0, 0, 2, 3, 0x4b, 0x4c, 0x4a, 6, 0,
                                       0xc2, 0x41, 0x24, 0x35, 3, 0, 0, 0};

static void put(const char *name, const void *data, size_t size)
{
    FILE *file = fopen(folder_in(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static bool holds(const char *name, const char *text)
{
    char got[64] = "";
    FILE *file = fopen(folder_in(name), "rb");
    size_t size = file ? fread(got, 1, sizeof got, file) : 0;
    if (file)
        fclose(file);
    return file && size == strlen(text) && memcmp(got, text, size) == 0;
}

static bool is_there(const char *name)
{
    return access(folder_in(name), F_OK) == 0;
}

/* The file `source` of the folder as `name` of the folder. */
static rapt_code get(const char *source, const char *name, const char *sum, fetch_outcome *outcome, rapt_error *err)
{
    char url[FOLDER_ROOM + 16], path[FOLDER_ROOM];
    fetch_file file = {.name = "abc.txt", .url = url, .bytes = 3, .sha256 = sum};
    fetch_request request = {.file = &file, .url = url, .path = path};
    snprintf(url, sizeof url, "file://%s", folder_in(source));
    snprintf(path, sizeof path, "%s", folder_in(name));
    *err = (rapt_error){0};
    return fetch_get(&request, outcome, err);
}

static void test_sum(void **state)
{
    (void)state;
    char sum[SUM_TEXT];
    sum_of("abc", 3, sum);
    assert_string_equal(sum, ABC);
    sum_of(NULL, 0, sum);
    assert_string_equal(sum, NOTHING);
}

static void test_plain(void **state)
{
    (void)state;
    rapt_error err;
    fetch_outcome outcome;
    put("abc.txt", "abc", 3);
    assert_int_equal(get("abc.txt", "new/folder/abc.txt", ABC, &outcome, &err), RAPT_OK);
    assert_int_equal(outcome, FETCH_CAME);
    assert_true(holds("new/folder/abc.txt", "abc"));
    assert_false(is_there("new/folder/abc.txt.part"));
    assert_int_equal(get("missing", "new/folder/abc.txt", ABC, &outcome, &err), RAPT_OK);
    assert_int_equal(outcome, FETCH_WAS_THERE);
}

static void test_packed(void **state)
{
    (void)state;
    rapt_error err;
    fetch_outcome outcome;
    put("abc.txt.gz", PACKED, sizeof PACKED);
    assert_int_equal(get("abc.txt.gz", "unpacked/abc.txt", ABC, &outcome, &err), RAPT_OK);
    assert_true(holds("unpacked/abc.txt", "abc"));
    assert_false(is_there("unpacked/abc.txt.gz.part"));
    put("cut.gz", PACKED, sizeof PACKED - 9);
    assert_int_equal(get("cut.gz", "unpacked/cut.txt", ABC, &outcome, &err), RAPT_ERR_FORMAT);
    assert_false(is_there("unpacked/cut.txt"));
    assert_false(is_there("unpacked/cut.gz.part"));
}

static void test_goes_on(void **state)
{
    (void)state;
    rapt_error err;
    fetch_outcome outcome;
    put("xbc", "xbc", 3);
    put("rest/xbc.part", "a", 1); /* only the rest is asked for: with the x, the sum would be another */
    assert_int_equal(get("xbc", "rest/abc.txt", ABC, &outcome, &err), RAPT_OK);
    assert_true(holds("rest/abc.txt", "abc"));
    put("rest/xbc.part", "abcd", 4); /* more than there is: from the start again */
    put("xbc", "abc", 3);
    assert_int_equal(get("xbc", "rest/other.txt", ABC, &outcome, &err), RAPT_OK);
    assert_true(holds("rest/other.txt", "abc"));
}

/* The part that was there belongs to another file: with it the sum would be the sum of "xbc". A file that is wrong again is
 * reported once. */
static void test_begins_again(void **state)
{
    (void)state;
    rapt_error err;
    fetch_outcome outcome;
    put("again.txt", "abc", 3);
    put("rest/again.txt.part", "x", 1);
    assert_int_equal(get("again.txt", "rest/again.txt", ABC, &outcome, &err), RAPT_OK);
    assert_true(holds("rest/again.txt", "abc"));
    assert_false(is_there("rest/again.txt.part"));
    put("rest/again.txt.part", "x", 1);
    assert_int_equal(get("again.txt", "rest/nothing.txt", NOTHING, &outcome, &err), RAPT_ERR_FORMAT);
    assert_non_null(strstr(err.message, "the sha256 of what came is " ABC));
    assert_false(is_there("rest/again.txt.part") || is_there("rest/nothing.txt"));
}

/* The file has 3 bytes; 2 * 3 + 65536 are the most that anything packed may have. */
static void test_too_large(void **state)
{
    (void)state;
    rapt_error err;
    fetch_outcome outcome;
    static const char many[2 * 3 + 65536 + 1];
    put("large", "abcd", 4);
    assert_int_equal(get("large", "big/abc.txt", ABC, &outcome, &err), RAPT_ERR_FORMAT);
    put("larger.gz", many, sizeof many);
    assert_int_equal(get("larger.gz", "larger/abc.txt", ABC, &outcome, &err), RAPT_ERR_FORMAT);
    assert_non_null(strstr(err.message, "sends more than 65542 bytes"));
    put("larger.gz", many, sizeof many - 1);
    assert_int_equal(get("larger.gz", "larger/abc.txt", ABC, &outcome, &err), RAPT_ERR_FORMAT);
    assert_null(strstr(err.message, "sends more"));
    assert_false(is_there("big") || is_there("larger"));
}

/* Folders that this call made go again, those that were there stay. A place that cannot be is not the server's fault. */
static void test_folders(void **state)
{
    (void)state;
    rapt_error err;
    fetch_outcome outcome;
    assert_int_equal(mkdir(folder_in("old"), 0777), 0);
    assert_int_equal(get("missing", "old/new/newer/abc.txt", ABC, &outcome, &err), RAPT_ERR_NOT_FOUND);
    assert_true(is_there("old"));
    assert_false(is_there("old/new"));
    assert_int_equal(get("missing", "old/abc.txt", ABC, &outcome, &err), RAPT_ERR_NOT_FOUND);
    assert_true(is_there("old"));
    put("file", "abc", 3);
    assert_int_equal(get("file", "old/new/../../file/abc.txt", ABC, &outcome, &err), RAPT_ERR_IO);
    assert_true(is_there("file"));
}

static void test_wrong(void **state)
{
    (void)state;
    rapt_error err;
    fetch_outcome outcome;
    put("abd", "abd", 3);
    assert_int_equal(get("abd", "wrong/abc.txt", ABC, &outcome, &err), RAPT_ERR_FORMAT);
    assert_non_null(strstr(err.message, ", not " ABC));
    assert_false(is_there("wrong/abc.txt"));
    assert_false(is_there("wrong/abd.part"));
    assert_int_equal(get("abc.txt", "abd", ABC, &outcome, &err), RAPT_ERR_FORMAT);
    assert_non_null(strstr(err.message, "is there, but is another file"));
    assert_true(holds("abd", "abd"));
    assert_int_equal(get("missing", "wrong/abc.txt", ABC, &outcome, &err), RAPT_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "cannot fetch file://"));
}

/* The name of a part can be foreseen: what it leads to stays as it was. */
static void test_links(void **state)
{
    (void)state;
    rapt_error err;
    fetch_outcome outcome;
    put("came", "abc", 3);
    put("victim", "mine", 4);
    assert_int_equal(mkdir(folder_in("shared"), 0777), 0);
    char part[FOLDER_ROOM];
    snprintf(part, sizeof part, "%s", folder_in("shared/came.part"));
    assert_int_equal(symlink("../victim", part), 0);
    assert_int_equal(get("came", "shared/abc.txt", ABC, &outcome, &err), RAPT_ERR_IO);
    assert_non_null(strstr(err.message, "came.part is a link or no regular file, and is not written to; remove it"));
    assert_int_equal(unlink(part), 0);
    assert_int_equal(link(folder_in("victim"), part), 0);
    assert_int_equal(get("came", "shared/abc.txt", ABC, &outcome, &err), RAPT_ERR_IO);
    assert_int_equal(unlink(part), 0);
    assert_int_equal(mkfifo(part, 0600), 0);
    assert_int_equal(get("came", "shared/abc.txt", ABC, &outcome, &err), RAPT_ERR_IO);
    assert_int_equal(unlink(part), 0);
    assert_true(holds("victim", "mine"));
    assert_false(is_there("shared/abc.txt"));
    assert_int_equal(get("came", "shared/abc.txt", ABC, &outcome, &err), RAPT_OK);
}

/* As a call leaves it that is killed when its file is complete. */
static void test_part_of_a_file_that_is_there(void **state)
{
    (void)state;
    rapt_error err;
    fetch_outcome outcome;
    put("abc", "abc", 3);
    put("rest/abc.part", "abc", 3);
    assert_int_equal(get("abc", "rest/there.txt", ABC, &outcome, &err), RAPT_OK);
    put("rest/abc.part", "abc", 3);
    assert_int_equal(get("abc", "rest/there.txt", ABC, &outcome, &err), RAPT_OK);
    assert_int_equal(outcome, FETCH_WAS_THERE);
    assert_false(is_there("rest/abc.part"));
}

static void test_urls(void **state)
{
    (void)state;
    static const struct {
        const char *from, *url;
    } cases[] = {{NULL, "https://host/a/b/name.gz"}, {"http://mirror", "http://mirror/name.gz"},
                 {"http://mirror/x//", "http://mirror/x/name.gz"}, {"", "/name.gz"}};
    fetch_file file = {.url = "https://host/a/b/name.gz"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *url = fetch_url(&file, cases[i].from);
        assert_string_equal(url, cases[i].url);
        free(url);
    }
}

static bool is_small_hex(const char *text)
{
    return strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}

static void test_sets(void **state)
{
    (void)state;
    for (size_t s = 0; s < FETCH_SET_COUNT; s++)
        for (size_t f = 0; f < FETCH_SETS[s].count; f++) {
            const fetch_file *file = &FETCH_SETS[s].files[f];
            assert_true(strncmp(file->url, "https://", 8) == 0 && is_small_hex(file->sha256) && file->bytes > 0);
            for (size_t other = 0; other < f; other++) /* a mirror has no folders, and two files of the same name are one */
                assert_string_not_equal(strrchr(FETCH_SETS[s].files[other].url, '/'), strrchr(file->url, '/'));
        }
}

static int set_up(void **state)
{
    return folder_make(state) || mkdir(folder_in("rest"), 0777);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sum), cmocka_unit_test(test_plain), cmocka_unit_test(test_packed),
                                       cmocka_unit_test(test_goes_on), cmocka_unit_test(test_begins_again),
                                       cmocka_unit_test(test_too_large), cmocka_unit_test(test_folders),
                                       cmocka_unit_test(test_wrong), cmocka_unit_test(test_links),
                                       cmocka_unit_test(test_part_of_a_file_that_is_there), cmocka_unit_test(test_urls),
                                       cmocka_unit_test(test_sets)};
    return cmocka_run_group_tests(tests, set_up, folder_remove);
}
