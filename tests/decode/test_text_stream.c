/* tests/decode/test_text_stream.c: bytes in pieces give the text that all of them give at once: repaired as Python's
 * bytes.decode(errors="replace") does it, and cut before the first stop string; at any time all that is certain is out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "search/text_stream.h"

#include "base/rng.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

#define ROOM 700

/* ---- a slow reference -------------------------------------------------------------------------------------------- */

/* Whether n bytes begin a character of `length` bytes, in numbers: with any continuation they stand for the codes from
 * low to high, and one of these needs that length and is no surrogate. */
static bool begins_character(const unsigned char *bytes, size_t n, size_t length)
{
    static const uint32_t marks[5] = {0, 0, 0xC0, 0xE0, 0xF0}, least[5] = {0, 0, 0x80, 0x800, 0x10000},
                          most[5] = {0, 0x7F, 0x7FF, 0xFFFF, 0x10FFFF};
    uint32_t space = length == 1 ? 0x80 : 1u << (7 - length), low, high;
    if (bytes[0] < marks[length] || bytes[0] >= marks[length] + space)
        return false;
    low = high = bytes[0] - marks[length];
    for (size_t i = 1; i < length; i++) {
        if (i < n && bytes[i] >> 6 != 2)
            return false;
        low = low << 6 | (i < n ? bytes[i] & 0x3Fu : 0);
        high = high << 6 | (i < n ? bytes[i] & 0x3Fu : 0x3F);
    }
    low = low < least[length] ? least[length] : low;
    high = high > most[length] ? most[length] : high;
    return low <= high && !(low >= 0xD800 && high <= 0xDFFF);
}

/* The length of the character at the start, or 0: then `*part` is how many bytes one U+FFFD stands for, and `*open` says
 * whether further bytes could still make a character of all there are. */
static size_t character_at(const unsigned char *bytes, size_t size, size_t *part, bool *open)
{
    *part = 1;
    *open = false;
    for (size_t length = 1; length <= 4; length++)
        for (size_t n = 1; n <= length && n <= size && begins_character(bytes, n, length); n++) {
            if (n == length)
                return length;
            *part = n > *part ? n : *part;
            *open = *open || n == size;
        }
    return 0;
}

/* What the bytes mean; `ended`: no more will follow, so that an unfinished character is an error. */
static size_t repaired(const char *bytes, size_t size, bool ended, char *out)
{
    size_t put = 0, part;
    bool open;
    for (size_t at = 0; at < size;) {
        size_t length = character_at((const unsigned char *)bytes + at, size - at, &part, &open);
        if (open && length == 0 && !ended)
            return put;
        memcpy(out + put, length ? bytes + at : "\xEF\xBF\xBD", length ? length : 3);
        put += length ? length : 3;
        at += length ? length : part;
    }
    return put;
}

static bool ends_with(const char *text, size_t size, const char *end, size_t end_size)
{
    return end_size <= size && memcmp(text + size - end_size, end, end_size) == 0;
}

/* The size of the text before the first stop string to be complete, the longest of those; `size` without any. */
static size_t stopped_at(const char *text, size_t size, const char *const *stops, size_t count, bool *stopped)
{
    for (size_t end = 1; end <= size; end++) {
        size_t longest = 0;
        for (size_t i = 0; i < count; i++)
            if (strlen(stops[i]) > longest && ends_with(text, end, stops[i], strlen(stops[i])))
                longest = strlen(stops[i]);
        if ((*stopped = longest > 0))
            return end - longest;
    }
    return size;
}

/* What of a text without a stop string is certain: all but the longest end that begins a stop string. */
static size_t certain(const char *text, size_t size, const char *const *stops, size_t count)
{
    size_t keep = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t n = 1; n < strlen(stops[i]); n++)
            keep = n > keep && ends_with(text, size, stops[i], n) ? n : keep;
    return size - keep;
}

/* ---- helpers ----------------------------------------------------------------------------------------------------- */

typedef struct collected {
    char text[3 * ROOM];
    size_t size, calls;
    rapt_code answer;
} collected;

static rapt_code collect(void *context, const char *text, size_t size, rapt_error *err)
{
    collected *c = context;
    assert_true(size > 0 && c->size + size <= sizeof c->text);
    assert_int_equal(utf8_valid_prefix(text, size), size);
    memcpy(c->text + c->size, text, size);
    c->size += size;
    c->calls++;
    return c->answer ? rapt_fail(err, c->answer, "the sink is full") : RAPT_OK;
}

static text_stream *opened(const char *const *stops, size_t count, collected *c)
{
    rapt_error err = {0};
    text_stream *s = text_stream_new(stops, count, collect, c, &err);
    if (!s)
        fail_msg("%s", err.message);
    return s;
}

static void push(text_stream *s, const char *bytes, size_t size)
{
    rapt_error err = {0};
    if (text_stream_push(s, bytes, size, &err))
        fail_msg("%s", err.message);
}

static void check_text(const collected *c, const char *want, size_t size)
{
    if (c->size != size || memcmp(c->text, want, size) != 0)
        fail_msg("got %zu bytes \"%.*s\", wanted %zu \"%.*s\"", c->size, (int)c->size, c->text, size, (int)size, want);
}

/* ---- characters -------------------------------------------------------------------------------------------------- */

/* The right column is Python's bytes.decode(errors="replace"), with ? for U+FFFD. */
static const struct {
    const char *bytes;
    size_t size;
    const char *text;
} repairs[] = {
    {"", 0, ""},
    {"abc", 3, "abc"},
    {"a\xC3\xA4\xE4\xBD\xA0\xF0\x9F\x98\x80", 10, "a\xC3\xA4\xE4\xBD\xA0\xF0\x9F\x98\x80"},
    {"\x80", 1, "?"},
    {"\x80\xBF", 2, "??"},
    {"\xC3", 1, "?"},
    {"\xC3(", 2, "?("},
    {"\xE4\xBD", 2, "?"},
    {"\xE4\xBDx", 3, "?x"},
    {"\xE4\xBD\xE4\xBD\xA0", 5, "?\xE4\xBD\xA0"},
    {"\xF0\x9F\x98", 3, "?"},
    {"\xF0\x9F\x98\xF0\x9F\x98\x80", 7, "?\xF0\x9F\x98\x80"},
    {"\xC0\x80", 2, "??"},
    {"\xC1\xBF", 2, "??"},
    {"\xE0\x9F\xBF", 3, "???"},
    {"\xE0\xA0\x80", 3, "\xE0\xA0\x80"},
    {"\xED\xA0\x80", 3, "???"},
    {"\xED\x9F\xBF", 3, "\xED\x9F\xBF"},
    {"\xF0\x8F\xBF\xBF", 4, "????"},
    {"\xF0\x90\x80\x80", 4, "\xF0\x90\x80\x80"},
    {"\xF4\x90\x80\x80", 4, "????"},
    {"\xF4\x8F\xBF\xBF", 4, "\xF4\x8F\xBF\xBF"},
    {"\xF5\x80\x80\x80", 4, "????"},
    {"\xFF\xFE", 2, "??"},
    {"\xF8\x88\x80\x80\x80", 5, "?????"},
    {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF" "A", 9, "????A"},
    {"\xE2\x82\xE2\x82\xAC\xE2", 6, "?\xE2\x82\xAC?"},
};

static size_t spelled_out(const char *text, char *out)
{
    size_t put = 0;
    for (; *text; text++)
        if (*text == '?') {
            memcpy(out + put, "\xEF\xBF\xBD", 3);
            put += 3;
        } else {
            out[put++] = *text;
        }
    return put;
}

/* Every table row in two pieces cut anywhere, and byte by byte. */
static void repairs_by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof repairs / sizeof *repairs; i++) {
        char want[100], reference[100];
        size_t size = spelled_out(repairs[i].text, want);
        assert_int_equal(repaired(repairs[i].bytes, repairs[i].size, true, reference), size);
        assert_memory_equal(reference, want, size);
        for (size_t cut = 0; cut <= repairs[i].size + 1; cut++) {
            collected c = {.size = 0};
            text_stream *s = opened(NULL, 0, &c);
            for (size_t j = 0; cut > repairs[i].size && j < repairs[i].size; j++)
                push(s, repairs[i].bytes + j, 1);
            if (cut <= repairs[i].size) {
                push(s, repairs[i].bytes, cut);
                push(s, repairs[i].bytes + cut, repairs[i].size - cut);
            }
            assert_int_equal(text_stream_finish(s, NULL), RAPT_OK);
            check_text(&c, want, size);
            text_stream_free(s);
        }
    }
}

/* A NUL is text; U+FFFD itself passes. */
static void bytes_that_look_special(void **state)
{
    collected c = {.size = 0};
    (void)state;
    text_stream *s = opened(NULL, 0, &c);
    push(s, "a\0b\xEF\xBF\xBD", 6);
    check_text(&c, "a\0b\xEF\xBF\xBD", 6);
    text_stream_free(s);
}

/* No stop string runs across U+FFFD. */
static void broken_bytes_are_part_of_the_text(void **state)
{
    (void)state;
    collected c = {.size = 0};
    text_stream *s = opened((const char *[]){"yz"}, 1, &c);
    push(s, "xy\xFFz\xE4", 5);
    assert_false(text_stream_stopped(s));
    assert_true(text_stream_is_open(s));
    check_text(&c, "xy\xEF\xBF\xBDz", 6);
    text_stream_free(s);
}

/* ---- anything, cut anywhere -------------------------------------------------------------------------------------- */

static const char *const sets[] = {
    "ab",
    "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80",
    "\xE0\xA0\x9F\xED\x8F\xF4\x90\xC0\xFF\x80\xBF",
};

static size_t random_bytes(uint64_t key, char *out)
{
    const char *set = sets[key % 3];
    size_t size = (size_t)rng_below(key, 0, 120);
    for (size_t i = 0; i < size; i++)
        out[i] = key % 7 ? set[rng_below(key, i + 1, strlen(set))] : (char)rng_below(key, i + 1, 256);
    return size;
}

/* Up to four stop strings of up to six characters. */
static size_t random_stops(uint64_t key, char texts[4][32], const char **stops)
{
    static const char *const characters[] = {"a", "b", "\xC3\xA4", "\xE2\x82\xAC", "\xEF\xBF\xBD"};
    size_t count = (size_t)rng_below(key, 1000, 5), kinds = key % 3 ? 5 : 2;
    for (size_t i = 0; i < count; i++) {
        size_t length = 1 + (size_t)rng_below(key, 1001 + i, 6);
        texts[i][0] = '\0';
        for (size_t j = 0; j < length; j++)
            strcat(texts[i], characters[rng_below(key, 2000 + 10 * i + j, kinds)]);
        stops[i] = texts[i];
    }
    return count;
}

/* Pushes pieces of random sizes; after each, exactly what is certain is out. Returns whether a stop string came. */
static bool check_pieces(uint64_t key, const char *bytes, size_t size, const char *const *stops, size_t count)
{
    char text[3 * ROOM];
    collected c = {.size = 0};
    text_stream *s = opened(stops, count, &c);
    bool stopped = false;
    for (size_t at = 0, i = 0; at < size; i++) {
        size_t piece = (size_t)rng_below(key, 5000 + i, 8), left = size - at;
        push(s, bytes + at, piece < left ? piece : left);
        at += piece < left ? piece : left;
        size_t known = repaired(bytes, at, false, text);
        size_t want = stopped_at(text, known, stops, count, &stopped);
        check_text(&c, text, stopped ? want : certain(text, known, stops, count));
        assert_int_equal(text_stream_done(s), stopped);
    }
    assert_int_equal(text_stream_finish(s, NULL), RAPT_OK);
    assert_true(text_stream_done(s));
    size_t whole = repaired(bytes, size, true, text);
    check_text(&c, text, stopped_at(text, whole, stops, count, &stopped));
    text_stream_free(s);
    return stopped;
}

static void any_bytes_cut_anywhere(void **state)
{
    char bytes[ROOM], texts[4][32];
    const char *stops[4];
    size_t stopped = 0;
    (void)state;
    for (uint64_t key = 0; key < 20000; key++) {
        size_t size = random_bytes(key, bytes), count = random_stops(key, texts, stops);
        stopped += check_pieces(key, bytes, size, stops, count);
    }
    print_message("  %zu of 20000 streams met a stop string\n", stopped);
    assert_true(stopped > 4000 && stopped < 16000);
}

/* ---- stop strings ------------------------------------------------------------------------------------------------ */

/* `pieces` are separated by |; `outs` says what has come out after each piece, and after the end. */
static void check_stops(const char *const *stops, size_t count, const char *pieces, const char *outs)
{
    collected c = {.size = 0};
    text_stream *s = opened(stops, count, &c);
    for (const char *p = pieces, *o = outs;; p++, o++) {
        size_t piece = strcspn(p, "|"), before = c.size;
        push(s, p, piece);
        p += piece;
        if (*p == '\0')
            assert_int_equal(text_stream_finish(s, NULL), RAPT_OK);
        size_t out = *p ? strcspn(o, "|") : strlen(o);
        if (c.size - before != out || memcmp(c.text + before, o, out) != 0)
            fail_msg("\"%s\" at \"%s\": got \"%.*s\", wanted \"%.*s\"", pieces, p, (int)(c.size - before), c.text + before,
                     (int)out, o);
        o += out;
        if (*p == '\0')
            break;
    }
    text_stream_free(s);
}

static void stops_by_hand(void **state)
{
    (void)state;
    check_stops((const char *[]){"aab"}, 1, "aaab|x", "a|");
    check_stops((const char *[]){"aab"}, 1, "a|a|a|b|x", "||a||");
    check_stops((const char *[]){"aab"}, 1, "xa|ac|aa", "x|aac|aa"); /* the end frees what was held back */
    check_stops((const char *[]){"abab"}, 1, "ab|ac|abab", "|abac|");
    check_stops((const char *[]){"abab"}, 1, "xabaabab|z", "xaba|");
    check_stops((const char *[]){"\n\n"}, 1, "one\n|two\n|\nthree", "one|\ntwo|");
    check_stops((const char *[]){"User:", "\nUser"}, 2, "Hi!\nUs|er: no", "Hi!|");
    check_stops((const char *[]){"User:"}, 1, "Hi!\nUs|er: no", "Hi!\n|");
    check_stops((const char *[]){"b", "ab", "cab"}, 3, "cab", "");      /* the longest of those complete */
    check_stops((const char *[]){"abcd", "bc"}, 2, "xab|cd", "x|a");    /* the first to be complete */
    check_stops((const char *[]){"stop", "stop"}, 2, "a st|op", "a |");
    check_stops((const char *[]){"\xC3\xA4"}, 1, "\xC3|\xA8\xC3|\xA4", "|\xC3\xA8|");
    check_stops((const char *[]){"\xEF\xBF\xBD"}, 1, "a\xFF" "b", "a"); /* of a byte that is no text, too */
    check_stops((const char *[]){"x\xC3\xA4"}, 1, "ax\xC3", "ax\xEF\xBF\xBD");
    check_stops((const char *[]){"a"}, 1, "aaaa", "");
}

static void bad_stops(void **state)
{
    static const struct {
        const char *stops[2], *message;
    } cases[] = {
        {{"a", ""}, "stop string 2 is empty"},
        {{"", "a"}, "stop string 1 is empty"},
        {{"a", "b\xC3"}, "stop string 2 is not UTF-8: byte 2"},
        {{"\xFF", "b"}, "stop string 1 is not UTF-8: byte 1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rapt_error err = {0};
        assert_null(text_stream_new(cases[i].stops, 2, collect, NULL, &err));
        assert_int_equal(err.code, RAPT_ERR_VALUE);
        assert_string_equal(err.message, cases[i].message);
    }
    text_stream_free(NULL);
}

/* ---- the sink ---------------------------------------------------------------------------------------------------- */

static void a_failing_sink_ends_the_stream(void **state)
{
    static const char *const texts[] = {"abc", "a\377b", "abSTOP"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        rapt_error err = {0};
        collected c = {.answer = RAPT_ERR_IO};
        text_stream *s = opened((const char *[]){"STOP"}, 1, &c);
        assert_int_equal(text_stream_push(s, texts[i], strlen(texts[i]), &err), RAPT_ERR_IO);
        assert_string_equal(err.message, "the sink is full");
        assert_true(text_stream_done(s));
        assert_int_equal(text_stream_push(s, "more", 4, NULL), RAPT_OK);
        assert_int_equal(text_stream_finish(s, NULL), RAPT_OK);
        assert_int_equal(c.calls, 1);
        text_stream_free(s);
    }
    collected c = {.answer = RAPT_ERR_IO};
    text_stream *s = opened(NULL, 0, &c);
    push(s, "\xE2\x82", 2);
    assert_int_equal(text_stream_finish(s, NULL), RAPT_ERR_IO);
    text_stream_free(s);
}

typedef struct counted {
    size_t size, largest, calls;
} counted;

static rapt_code count_bytes(void *context, const char *text, size_t size, rapt_error *err)
{
    counted *c = context;
    (void)err;
    assert_int_equal(utf8_valid_prefix(text, size), size);
    c->size += size;
    c->calls++;
    c->largest = size > c->largest ? size : c->largest;
    return RAPT_OK;
}

/* A push of any size goes through in portions; one of a token is one call at most. */
static void long_texts_come_in_portions(void **state)
{
    enum { COUNT = 100000 };
    static const char *const stops[] = {"\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC" "X"};
    char *text = malloc(3 * COUNT);
    counted c = {0};
    (void)state;
    for (size_t i = 0; i < 3 * COUNT; i++)
        text[i] = "\xE2\x82\xAC"[i % 3];
    text_stream *s = text_stream_new(stops, 1, count_bytes, &c, NULL);
    assert_int_equal(text_stream_push(s, text, 3 * COUNT - 1, NULL), RAPT_OK);
    assert_int_equal(c.size, 3 * COUNT - 3 - 9); /* three characters may begin the stop string, one is unfinished */
    assert_true(c.largest < 8192 && c.calls > 30);
    c.calls = 0;
    assert_int_equal(text_stream_push(s, text + 2, 1, NULL), RAPT_OK);
    assert_int_equal(c.size, 3 * COUNT - 9);
    assert_int_equal(text_stream_push(s, "X", 1, NULL), RAPT_OK);
    assert_true(text_stream_done(s));
    assert_int_equal(c.size, 3 * COUNT - 9);
    assert_int_equal(c.calls, 1);
    text_stream_free(s);
    free(text);
}

/* Nothing of a stop string is handed on, wherever the portions end, and nothing of what follows. */
static void stops_across_portions(void **state)
{
    char text[8000];
    (void)state;
    for (size_t at = 4000; at < 4200; at++) {
        counted c = {0};
        text_stream *s = text_stream_new((const char *[]){"an uncommon stop string"}, 1, count_bytes, &c, NULL);
        memset(text, 'x', at);
        memset(text + at, 0xFF, sizeof text - at);
        memcpy(text + at, "an uncommon stop string", 23);
        assert_int_equal(text_stream_push(s, text, sizeof text, NULL), RAPT_OK);
        assert_true(text_stream_done(s));
        assert_int_equal(c.size, at);
        text_stream_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repairs_by_hand),
        cmocka_unit_test(bytes_that_look_special),
        cmocka_unit_test(broken_bytes_are_part_of_the_text),
        cmocka_unit_test(any_bytes_cut_anywhere),
        cmocka_unit_test(stops_by_hand),
        cmocka_unit_test(bad_stops),
        cmocka_unit_test(a_failing_sink_ends_the_stream),
        cmocka_unit_test(long_texts_come_in_portions),
        cmocka_unit_test(stops_across_portions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
