/* tests/serve/test_replay.c: lines for a shell: bash reads the texts in them as they were. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "serve/exchange_case.h"

#include "serve/module/replay.h"

static const served MODEL = {.name = "a model's name", .path = "/home/operator/model", .options = "--weights q8_0",
                             .number_format = "fp32", .fingerprint = "0123456789abcdef"};

#define BEFORE "generate%ca model's name%c--weights%cq8_0%c" /* words of such a command, each with its NUL */

/* The header for a text; to be freed. NULL: there is none. */
static char *replay_line(const char *text, size_t size, bool as_lines)
{
    replay r = {.input = 0};
    exchange *x = case_request("GET", "/", NULL, "", 0);
    replay_begin(&r, "generate", &MODEL);
    if (as_lines)
        replay_lines(&r, text, size);
    else
        replay_prompt(&r, text, size);
    replay_end(&r, x);
    const char *line = case_header(x, "X-Rapt-Replay");
    char *copy = line ? strdup(line) : NULL;
    exchange_release(x);
    return copy;
}

/* What bash gives a program of this name as its arguments, each with a NUL, and its standard input. */
static size_t shell_words(const char *line, char *words, size_t capacity)
{
    char command[8192];
    snprintf(command, sizeof command, "rapt() { printf '%%s\\0' \"$@\"; [ -t 0 ] || cat; }\n%s", line);
    assert_int_equal(setenv("REPLAY_COMMAND", command, 1), 0);
    FILE *shell = popen("exec bash -c \"$REPLAY_COMMAND\" </dev/null", "r");
    assert_non_null(shell);
    size_t size = fread(words, 1, capacity, shell);
    assert_int_equal(pclose(shell), 0);
    return size;
}

static void assert_words(const char *line, const char *words, size_t size)
{
    char got[4096];
    assert_non_null(line);
    for (const char *p = line; *p; p++)
        assert_true(*p >= ' ' && *p <= '~');
    const size_t got_size = shell_words(line, got, sizeof got);
    if (got_size != size || memcmp(got, words, size) != 0)
        fail_msg("%s: \"%.*s\"", line, (int)got_size, got);
}

static void texts_come_through_a_shell(void **state)
{
    (void)state;
    static const char *const texts[] = {"plain", "", "it's", "$HOME `id` \"x\" \\n !! ~ * # ; | & (", "two\nlines\n",
                                        "\t\r\x1b[31m",
                                        "\xC3\xA9\xE4\xB8\x80" "0", "\x01" "1f", "-x", "--", "'", "\\", "a\\'b"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char words[256];
        const size_t size = strlen(texts[i]);
        const int before = snprintf(words, sizeof words, BEFORE "--prompt%c%s", 0, 0, 0, 0, 0, texts[i]);
        char *line = replay_line(texts[i], size, false);
        assert_words(line, words, (size_t)before + 1);
        free(line);
        const int lines = snprintf(words, sizeof words, BEFORE "%s\n", 0, 0, 0, 0, texts[i]);
        line = replay_line(texts[i], size, true);
        assert_words(line, words, (size_t)lines);
        free(line);
    }
}

static void long_texts_are_not_in_the_line(void **state)
{
    (void)state;
    static const char by_file[] = "rapt generate $'a model\\'s name' --weights q8_0 --prompt-file - # with the %zu bytes of "
                                  "the text on standard input";
    char text[REPLAY_TEXT], want[256];
    for (int escaped = 0; escaped < 2; escaped++) { /* $'\x01...': four characters each */
        const size_t most = escaped ? (REPLAY_TEXT - 3) / 4 : REPLAY_TEXT - 2;
        memset(text, escaped ? '\x01' : 'x', sizeof text);
        char *line = replay_line(text, most, false);
        assert_true(line && strlen(line) > REPLAY_TEXT);
        free(line);
        line = replay_line(text, most + 1, false);
        snprintf(want, sizeof want, by_file, most + 1);
        assert_string_equal(line, want);
        free(line);
    }
    assert_null(replay_line("a\0b", 3, false));
}

static void long_lines_are_left_out(void **state)
{
    (void)state;
    char text[1000];
    memset(text, 'x', sizeof text);
    for (int count = 2; count < 5; count++) {
        replay r = {.input = 0};
        exchange *x = case_request("GET", "/", NULL, "", 0);
        replay_begin(&r, "generate", &MODEL);
        for (int i = 0; i < count; i++)
            replay_text(&r, "--stop", text, sizeof text);
        replay_end(&r, x);
        assert_true((case_header(x, "X-Rapt-Replay") != NULL) == (count < 3));
        exchange_release(x);
    }
}

/* A request with many long texts. In the past all of them were written, ten thousand times a megabyte. */
static void lines_that_are_too_long_are_not_finished(void **state)
{
    (void)state;
    enum { SIZE = 1 << 20, COUNT = 10000 };
    char *text = malloc(SIZE);
    assert_non_null(text);
    memset(text, '\x01', SIZE);
    for (size_t size = 1; size <= SIZE; size *= 1024) {
        replay r = {.input = 0};
        exchange *x = case_request("GET", "/", NULL, "", 0);
        for (size_t i = 0; i < COUNT; i++) {
            replay_begin(&r, "generate", &MODEL);
            replay_text(&r, "--stop", text, size);
            replay_number(&r, "--top-p", 0.1);
        }
        assert_true(r.line.capacity <= 16 * (REPLAY_LINE + REPLAY_TEXT));
        replay_end(&r, x);
        assert_null(case_header(x, "X-Rapt-Replay"));
        exchange_release(x);
    }
    free(text);
}

/* Two commands cannot read one standard input. */
static void several_commands_are_one_line(void **state)
{
    (void)state;
    char text[REPLAY_TEXT];
    memset(text, 'x', sizeof text);
    for (size_t size = 1; size <= sizeof text; size += sizeof text - 1) {
        replay r = {.input = 0};
        exchange *x = case_request("GET", "/", NULL, "", 0);
        for (int i = 0; i < 2; i++) {
            replay_begin(&r, "generate", &MODEL);
            replay_number(&r, "--top-p", 0.1);
            replay_prompt(&r, text, size);
        }
        replay_end(&r, x);
        const char *line = case_header(x, "X-Rapt-Replay");
        assert_true((line != NULL) == (size == 1));
        if (line)
            assert_non_null(strstr(line, "--top-p 0.1 --prompt 'x'; rapt generate "));
        exchange_release(x);
    }
}

static void operators_may_keep_it(void **state)
{
    (void)state;
    served model = MODEL;
    model.no_replay = true;
    replay r = {.input = 0};
    exchange *x = case_request("GET", "/", NULL, "", 0);
    replay_begin(&r, "generate", &model);
    replay_end(&r, x);
    assert_null(case_header(x, "X-Rapt-Replay"));
    exchange_release(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_come_through_a_shell),
                                       cmocka_unit_test(long_texts_are_not_in_the_line),
                                       cmocka_unit_test(long_lines_are_left_out),
                                       cmocka_unit_test(lines_that_are_too_long_are_not_finished),
                                       cmocka_unit_test(several_commands_are_one_line),
                                       cmocka_unit_test(operators_may_keep_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
