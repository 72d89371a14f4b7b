/* tests/data/test_text_files.c: which files of folders and lists become one text, and in what order. For
 * src/data/text_files.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "data/text_files.h"
#include "folder.h"

#include <string.h>
#include <sys/stat.h>

static void put_bytes(const char *path, const char *bytes, size_t size)
{
    char *copy = strdup(path), *slash = strrchr(copy, '/');
    if (slash) {
        *slash = '\0';
        assert_int_equal(file_make_dir(copy, NULL), RAPT_OK);
    }
    free(copy);
    assert_int_equal(file_write_atomic(path, bytes, size, NULL), RAPT_OK);
}

static void put(const char *path, const char *text)
{
    put_bytes(path, text, strlen(text));
}

static bool several(const char *list)
{
    bool answer;
    assert_int_equal(text_files_are_several(list, &answer, NULL), RAPT_OK);
    return answer;
}

static rapt_code join_chosen(const char *list, const text_choice *choice, const char *path, rapt_error *err)
{
    file_writer out;
    rapt_code code = text_files_join(list, choice, path, &out, err);
    return code ? code : file_writer_finish(&out, err);
}

static rapt_code join(const char *list, const char *path, rapt_error *err)
{
    return join_chosen(list, NULL, path, err);
}

static void assert_chosen(const char *list, const text_choice *choice, const char *text, size_t size)
{
    char *data;
    size_t got;
    rapt_error err = {0};
    rapt_code code = join_chosen(list, choice, "out", &err);
    assert_string_equal(err.message, "");
    assert_int_equal(code, RAPT_OK);
    assert_int_equal(file_read("out", 1 << 20, &data, &got, NULL), RAPT_OK);
    assert_int_equal(got, size);
    assert_memory_equal(data, text, size);
    free(data);
    unlink("out");
}

static void assert_joins(const char *list, const char *text, size_t size)
{
    assert_chosen(list, NULL, text, size);
}

static void assert_text(const char *list, const char *text)
{
    assert_joins(list, text, strlen(text));
}

/* Nothing is made, and what was there stays. */
static void assert_fails(const char *list, rapt_code code, const char *message)
{
    int count = folder_entries(".");
    rapt_error err = {0};
    assert_int_equal(join(list, "out", &err), code);
    assert_string_equal(err.message, message);
    assert_int_equal(err.code, code);
    assert_int_equal(folder_entries("."), count);
}

/* ---- what is several ---------------------------------------------------------------------------------------- */

static void one_file_or_several(void **state)
{
    (void)state;
    put("a", "A");
    put("d/b", "B");
    put("x:y", "colon");
    assert_false(several("a"));
    assert_false(several("missing"));
    assert_false(several("x:y")); /* there is a file of that name */
    assert_true(several("d"));
    assert_true(several("d/"));
    assert_true(several("a:d"));
    assert_true(several("a:"));
    assert_true(several("missing:too"));
    assert_int_equal(symlink("d", "link"), 0);
    assert_true(several("link")); /* named, so it is followed */
}

/* ---- order -------------------------------------------------------------------------------------------------- */

/* Bytes: upper case before lower case, digits before both, "a" before "a.b" before "aa", é (C3 A9) after z. */
static void folders_go_by_the_bytes_of_names(void **state)
{
    (void)state;
    static const char *const names[] = {"z", "a", "B", "10", "9", "aa", "a.b", "\xC3\xA9", "_", "-", "Z", "A b"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[32], text[32];
        snprintf(path, sizeof path, "d/%s", names[i]);
        snprintf(text, sizeof text, "%s|", names[i]);
        put(path, text);
    }
    assert_text("d", "-|10|9|A b|B|Z|_|a|a.b|aa|z|\xC3\xA9|");
    assert_text("d/", "-|10|9|A b|B|Z|_|a|a.b|aa|z|\xC3\xA9|");
}

/* A folder stands among the files of its own folder by its name. */
static void nested_folders(void **state)
{
    (void)state;
    put("d/b.txt", "1");
    put("d/b/z", "2");
    put("d/b/a/deep/er", "3");
    put("d/a", "4");
    put("d/c/x", "5");
    put("d/b0", "6");
    assert_int_equal(mkdir("d/empty", 0777), 0);
    assert_text("d", "432165");
    assert_text("d/b", "32");
}

static void lists_go_as_they_are_written(void **state)
{
    (void)state;
    put("a", "A");
    put("b", "B");
    put("d/x", "X");
    put("x:y", "colon");
    assert_text("b:a", "BA");
    assert_text("b:d:a:b", "BXAB"); /* again where it is named again */
    assert_text("d:d/x", "XX");
    assert_text(":a::b:", "AB");
    assert_text("a", "A");
    assert_text("x:y", "colon");
    char absolute[2 * FOLDER_ROOM];
    snprintf(absolute, sizeof absolute, "%s/b:a:%s/d", folder_path, folder_path);
    assert_text(absolute, "BAX");
}

/* Nothing is put between files, no line is ended. */
static void bytes_stay_as_they_are(void **state)
{
    (void)state;
    put("d/1", "no line break");
    put("d/2", "\xEF\xBB\xBF" "a mark\r\n");
    put("d/3", "");
    put("d/4", "\n\n");
    assert_text("d", "no line break\xEF\xBB\xBF" "a mark\r\n\n\n");
}

/* ---- what is left out ------------------------------------------------------------------------------------------ */

static void hidden_entries_and_links_are_passed_over(void **state)
{
    (void)state;
    put("d/seen", "seen ");
    put("d/.hidden", "hidden ");
    put("d/.git/config", "hidden too ");
    put("d/sub/.x", "hidden there ");
    put("outside", "outside ");
    put("there/file", "there ");
    assert_int_equal(symlink("../outside", "d/link"), 0);
    assert_int_equal(symlink("../there", "d/link-to-folder"), 0);
    assert_int_equal(symlink("..", "d/loop"), 0);
    assert_int_equal(symlink("nowhere", "d/broken"), 0);
    assert_int_equal(mkfifo("d/pipe", 0666), 0); /* reading it would wait forever */
    assert_text("d", "seen ");
    assert_text("d/.git:d/link:d/.hidden", "hidden too outside hidden "); /* named ones are taken */
    assert_text("d/link-to-folder", "there ");
}

static void binary_files_are_passed_over_where_they_are_found(void **state)
{
    (void)state;
    put("d/a", "text ");
    put_bytes("d/b", "nul\0byte", 8);
    put("d/c", "latin \xE9t\xE9");
    put("d/d", "cut \xC3");
    put("d/e", "surrogate \xED\xA0\x80");
    put("d/f", "na\xC3\xAFve");
    assert_text("d", "text na\xC3\xAFve");
    assert_joins("d/b:d/f", "nul\0bytena\xC3\xAFve", 14);
    for (const char *path = "d/c\0d/d\0d/e\0"; *path; path += 4) {
        char list[16];
        rapt_error err = {0};
        snprintf(list, sizeof list, "d/f:%s", path);
        assert_int_equal(join(list, "out", &err), RAPT_ERR_FORMAT); /* what is named must be text */
        assert_non_null(strstr(err.message, ": not UTF-8 (line 1)"));
        assert_int_equal(strncmp(err.message, path, 3), 0);
    }
}

/* Else the second run would read what the first has written. */
static void the_result_is_no_part_of_itself(void **state)
{
    (void)state;
    rapt_error err = {0};
    put("d/a", "A");
    put("d/model/train.jsonl", "log");
    for (int i = 0; i < 2; i++) {
        char *data;
        size_t size;
        assert_int_equal(join("d", "d/model/text.txt", NULL), RAPT_OK);
        assert_int_equal(file_read("d/model/text.txt", 100, &data, &size, NULL), RAPT_OK);
        assert_string_equal(data, "A");
        free(data);
    }
    assert_int_equal(folder_entries("d/model"), 2);
    assert_int_equal(join("d/a:d/model/text.txt", "d/model/text.txt", &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "d/model/text.txt: the joined texts would be written over it");
    assert_fails(".", RAPT_ERR_FORMAT, ".: no text in there"); /* the result's own folder */
}

/* ---- names ---------------------------------------------------------------------------------------------------- */

static void only_files_of_the_wanted_names(void **state)
{
    (void)state;
    put("d/a.c", "C ");
    put("d/a.svg", "<svg/> ");
    put("d/a.svg.c", "C too ");
    put("d/sub.c/b.md", "MD ");
    put("d/sub.c/b.md2", "no ");
    put("d/sub.c/c", "bare ");
    static const struct {
        const char *names, *text;
    } cases[] = {{"*.c", "C C too "}, {"*.md", "MD "}, {"*.c,*.md", "C C too MD "}, {"*.md, *.c", "C C too MD "},
                 {"c", "bare "},      {"?.*", "C <svg/> C too MD no "}, {"x,,c", "bare "}, {NULL, "C <svg/> C too MD no bare "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_chosen("d", &(text_choice){.names = cases[i].names}, cases[i].text, strlen(cases[i].text));
    assert_chosen("d/a.svg:d", &(text_choice){.names = "*.md"}, "<svg/> MD ", 10); /* named ones are taken */
    assert_chosen("d/a.svg:d", &(text_choice){.names = "*.md", .separator = "<|end|>"}, "<svg/> <|end|>MD <|end|>", 24);
    rapt_error err = {0};
    assert_int_equal(join_chosen("d", &(text_choice){.names = "*.py"}, "out", &err), RAPT_ERR_FORMAT);
    assert_string_equal(err.message, "d: no text in there in files of the wanted names");
    assert_int_equal(folder_entries("."), 1);
}

/* ---- shuffled ------------------------------------------------------------------------------------------------- */

enum { KINDS = 4, OF_EACH = 50 };

/* d/0 .. d/3 with fifty files of the letter of their folder; the joined text, which the caller frees. */
static char *shuffle(const char *list)
{
    char *data;
    size_t size;
    assert_int_equal(join_chosen(list, &(text_choice){.shuffled = true}, "out", NULL), RAPT_OK);
    assert_int_equal(file_read("out", 1 << 20, &data, &size, NULL), RAPT_OK);
    unlink("out");
    return data;
}

static void put_kinds(const char *folder)
{
    for (int i = 0; i < KINDS * OF_EACH; i++) {
        char path[64], text[2] = {(char)('a' + i % KINDS), 0};
        snprintf(path, sizeof path, "%s/%d/file%d", folder, i % KINDS, i / KINDS);
        put(path, text);
    }
}

/* With 200 files of four kinds, every fifth of the text has each kind: one is absent with a probability of (3/4)^40, 1e-5. */
static void shuffled_every_stretch_has_files_of_all_kinds(void **state)
{
    (void)state;
    put_kinds("d");
    char *text = shuffle("d");
    assert_int_equal(strlen(text), KINDS * OF_EACH);
    for (int part = 0; part < 5; part++)
        for (int kind = 0; kind < KINDS; kind++)
            assert_non_null(memchr(text + part * 40, 'a' + kind, 40));
    free(text);
}

/* Not by where the folder is, nor by how it is written. */
static void the_order_is_of_the_paths_within_the_folder(void **state)
{
    (void)state;
    char absolute[2 * FOLDER_ROOM];
    put_kinds("d");
    put_kinds("elsewhere/deep");
    snprintf(absolute, sizeof absolute, "%s/d//", folder_path);
    char *text = shuffle("d");
    const char *const others[] = {"d/", "./d", absolute, "elsewhere/deep"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char *other = shuffle(others[i]);
        assert_string_equal(text, other);
        free(other);
    }
    free(text);
}

static void a_file_that_is_added_moves_no_others(void **state)
{
    (void)state;
    put_kinds("d");
    char *before = shuffle("d");
    put("d/new", "!");
    char *after = shuffle("d");
    size_t at = strcspn(after, "!"), length = strlen(after);
    assert_true(at < length);
    memmove(after + at, after + at + 1, length - at);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

/* The same path in two folders is one place: they stand as they are listed, each file whole. */
static void files_of_equal_paths_stand_as_listed(void **state)
{
    (void)state;
    put("a/README", "first ");
    put("b/README", "second ");
    char *text = shuffle("a:b"), *turned = shuffle("b:a"), *again = shuffle("a/README:b/README:a");
    assert_string_equal(text, "first second ");
    assert_string_equal(turned, "second first ");
    assert_string_equal(again, "first second first ");
    free(text);
    free(turned);
    free(again);
}

/* ---- failures ----------------------------------------------------------------------------------------------- */

static void what_cannot_be_read(void **state)
{
    (void)state;
    put("a", "A");
    put("d/b", "B");
    assert_fails("a:missing", RAPT_ERR_NOT_FOUND, "cannot read missing: No such file or directory");
    assert_fails("missing:a", RAPT_ERR_NOT_FOUND, "cannot read missing: No such file or directory");
    assert_fails("a:a/b", RAPT_ERR_IO, "cannot read a/b: Not a directory");
    assert_int_equal(mkfifo("pipe", 0666), 0);
    assert_fails("a:pipe", RAPT_ERR_IO, "cannot read pipe: not a regular file, so it cannot be mapped");
}

/* Nothing is closed to root: it becomes somebody else meanwhile. */
static void what_must_not_be_read(void **state)
{
    (void)state;
    uid_t user = geteuid();
    put("a", "A");
    put("d/b", "B");
    assert_int_equal(chmod(".", 0777), 0);
    assert_int_equal(chmod("d/b", 0), 0);
    if (user == 0 && seteuid(65534) != 0)
        skip();
    assert_fails("d", RAPT_ERR_IO, "cannot read d/b: Permission denied");
    assert_int_equal(seteuid(user), 0);
    assert_int_equal(chmod("d", 0), 0);
    if (user == 0)
        assert_int_equal(seteuid(65534), 0);
    assert_fails("a:d", RAPT_ERR_IO, "cannot read the folder d: Permission denied");
    assert_int_equal(seteuid(user), 0);
}

static void no_text_at_all(void **state)
{
    (void)state;
    put("empty", "");
    put("d/empty", "");
    put("d/.hidden", "text");
    put_bytes("d/binary", "\0", 1);
    put("out", "as before");
    assert_fails("d", RAPT_ERR_FORMAT, "d: no text in there");
    assert_fails("empty:d", RAPT_ERR_FORMAT, "empty:d: no text in there");
    assert_fails(":", RAPT_ERR_FORMAT, ":: no text in there");
    char *data;
    size_t size;
    assert_int_equal(file_read("out", 100, &data, &size, NULL), RAPT_OK);
    assert_string_equal(data, "as before");
    free(data);
}

static void where_nothing_can_be_written(void **state)
{
    (void)state;
    rapt_error err = {0};
    put("a", "A");
    assert_int_equal(join("a:a", "nowhere/out", &err), RAPT_ERR_NOT_FOUND);
    assert_string_equal(err.message, "cannot write nowhere/out: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(one_file_or_several),
        IN_FOLDER(folders_go_by_the_bytes_of_names),
        IN_FOLDER(nested_folders),
        IN_FOLDER(lists_go_as_they_are_written),
        IN_FOLDER(bytes_stay_as_they_are),
        IN_FOLDER(hidden_entries_and_links_are_passed_over),
        IN_FOLDER(binary_files_are_passed_over_where_they_are_found),
        IN_FOLDER(the_result_is_no_part_of_itself),
        IN_FOLDER(only_files_of_the_wanted_names),
        IN_FOLDER(shuffled_every_stretch_has_files_of_all_kinds),
        IN_FOLDER(the_order_is_of_the_paths_within_the_folder),
        IN_FOLDER(a_file_that_is_added_moves_no_others),
        IN_FOLDER(files_of_equal_paths_stand_as_listed),
        IN_FOLDER(what_cannot_be_read),
        IN_FOLDER(what_must_not_be_read),
        IN_FOLDER(no_text_at_all),
        IN_FOLDER(where_nothing_can_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
