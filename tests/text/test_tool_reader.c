/* tests/text/test_tool_reader.c: calls of tools in replies, whole and bit by bit: what the formats of the families say, and text
 * that is none; JSON byte by byte accepts what jansson accepts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "text/chat/tool_reader.h"

#include <jansson.h>
#include <stdio.h>

static uint32_t seed = 1;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

/* ---- what is handed out, as one text: T"text" F"name" A"arguments"; neighbors of one kind are one ------------------------ */

typedef struct pieces {
    buffer all;
    int last;
} pieces;

static bool take_piece(void *context, tool_piece kind, const char *text, size_t size)
{
    pieces *p = context;
    assert_true(size > 0);
    json_t *whole = json_stringn(text, size); /* whole characters */
    assert_non_null(whole);
    json_decref(whole);
    if (p->last != (int)kind || kind == TOOL_NAME)
        assert_true(buffer_append(&p->all, kind == TOOL_TEXT ? "|T:" : kind == TOOL_NAME ? "|F:" : "|A:", 3));
    p->last = (int)kind;
    return buffer_append(&p->all, text, size);
}

static const char *const NAMES[] = {"add", "get_weather", "a-1", ""}; /* the last is of a tool without a name */

typedef struct way {
    tool_family family;
    bool sure, single;
} way;

/* With parts of at most `most` bytes, cut between characters; 0: whole. To be freed. */
static char *read_reply(way how, const char *text, size_t size, uint32_t most)
{
    pieces p = {.last = -1};
    tool_reader r = {.family = how.family, .names = {NAMES, 4}, .sure = how.sure, .single = how.single, .take = take_piece,
                     .context = &p};
    for (size_t at = 0; at < size;) {
        size_t end = most > 0 ? at + 1 + draw(most) : size;
        end = end < size ? end : size;
        while (end < size && ((uint8_t)text[end] & 0xC0) == 0x80)
            end++;
        tool_reader_push(&r, text + at, end - at);
        at = end;
    }
    tool_reader_finish(&r);
    assert_false(r.failed);
    assert_true(buffer_append(&p.all, "", 1));
    return p.all.data;
}

static void reads(way how, const char *text, const char *want)
{
    for (uint32_t most = 0; most < 9; most++) {
        char *got = read_reply(how, text, strlen(text), most);
        if (strcmp(got, want) != 0)
            fail_msg("parts of %u bytes: '%s' gives '%s', not '%s'", most, text, got, want);
        free(got);
    }
}

/* ---- the families ------------------------------------------------------------------------------------------------------- */

static const way HERMES = {.family = TOOLS_HERMES}, LLAMA = {.family = TOOLS_LLAMA}, MISTRAL = {.family = TOOLS_MISTRAL},
                 ARGS = {.family = TOOLS_MISTRAL_ARGS};

static void hermes_calls(void **state)
{
    (void)state;
    reads(HERMES, "", "");
    reads(HERMES, "Hi there. ", "|T:Hi there. ");
    reads(HERMES, "<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": 1}}\n</tool_call>", "|F:add|A:{\"a\": 1}");
    reads(HERMES, "I ask.\n\n<tool_call>{\"arguments\":{},\"name\":\"add\"}</tool_call>\n<tool_call>\n{\"name\": \"a-1\", "
                  "\"arguments\": {\"x\": [1, {\"y\": null}]}}\n</tool_call>\n",
          "|T:I ask.|F:add|A:{}|F:a-1|A:{\"x\": [1, {\"y\": null}]}");
    reads(HERMES, "<tool_call>{\"id\": 7, \"name\": \"add\", \"arguments\": {}, \"more\": [true, 1.5e-3]}", "|F:add|A:{}");
    reads(HERMES, "<tool_call>{\"name\": \"add\", \"arguments\": {}}</tool_call> So.", "|F:add|A:{}|T:So.");
}

static void markers_within_texts_are_text(void **state)
{
    (void)state;
    reads(HERMES, "<tool_call>{\"name\": \"add\", \"arguments\": {"
                  "\"a\": \"</tool_call> <tool_call>{\\\"name\\\": \\\"add\\\"}\", "
                  "\"q\\\"}\": \"\\\\\", \"u\": \"\\u00e9\\ud83d\\ude42\xC3\xA9\xF0\x9F\x99\x82}\"}}</tool_call>",
          "|F:add|A:{\"a\": \"</tool_call> <tool_call>{\\\"name\\\": \\\"add\\\"}\", \"q\\\"}\": \"\\\\\", "
          "\"u\": \"\\u00e9\\ud83d\\ude42\xC3\xA9\xF0\x9F\x99\x82}\"}");
    reads(LLAMA, "{\"name\": \"add\", \"parameters\": {\"a\": \"; {\\\"name\\\": \\\"\xE4\xBD\xA0\"}}",
          "|F:add|A:{\"a\": \"; {\\\"name\\\": \\\"\xE4\xBD\xA0\"}");
    reads(MISTRAL, "[TOOL_CALLS] [{\"name\": \"add\", \"arguments\": {\"a\": \"}]\"}}]", "|F:add|A:{\"a\": \"}]\"}");
}

/* Each of them as it is. */
static void what_only_looks_like_a_call_is_text(void **state)
{
    (void)state;
    static const char *const hermes[] = {
        "<tool_call>", "<tool_cal", "<", "a <tool", "<tool_call> add", "<tool_call>{\"name\": \"add\"}</tool_call>",
        "<tool_call>{\"name\": \"\", \"arguments\": {}}</tool_call>",
        "<tool_call>{\"name\": \"sub\", \"arguments\": {}}</tool_call>", "<tool_call>{\"name\": \"add\", \"arguments\": \"{}\"}",
        "<tool_call>{\"name\": \"add\", \"arguments\": [1]}", "<tool_call>{\"name\": 5, \"arguments\": {}}", "<tool_call>[1]",
        "<tool_call>{\"name\": \"add\", \"arguments\": {}", "<tool_call>{\"name\": \"add\", \"arguments\": {,}}",
        "<tool_call>{\"name\": \"add\", \"name\": \"add\", \"arguments\": {}}", "<tool_call>{'name': 'add', 'arguments': {}}",
        "<tool_call>{\"name\": \"add\", \"arguments\": {\"a\": 01}}", "{\"name\": \"add\", \"arguments\": {}}",
        "<tool_call>{\"name\": \"add\", \"arguments\": {}, \"arguments\": {}}", "<tool_call>{\"arguments\": {}}",
        "<tool_call>{\"n\\u0061me\": \"add\", \"arguments\": {}}", "<tool_call><function=add></function></tool_call>"};
    static const char *const llama[] = {
        "a {\"name\": \"add\", \"parameters\": {}}", "{", "{\"name\": \"add\"}", "<|python_tag|>add.call(a=1)", "<|python_tag",
        "{\"name\": \"add\", \"arguments\": {}}", "{\"name\": \"add\", \"parameters\": {}"};
    static const char *const mistral[] = {"[TOOL_CALLS]", "[TOOL_CALLS] []",
                                          "[TOOL_CALLS] [[{\"name\": \"add\", \"arguments\": {}}]]",
                                          "[TOOL_CALLS]add{}", "[{\"name\": \"add\", \"arguments\": {}}]", "[TOOL"};
    static const char *const args[] = {"[TOOL_CALLS]sub[ARGS]{}", "[TOOL_CALLS][ARGS]{}", "[TOOL_CALLS]add[ARGS][]",
                                       "[TOOL_CALLS]add {}", "[TOOL_CALLS]add[ARGS]{", "[TOOL_CALLS]add[AR",
                                       "[TOOL_CALLS]\xC3\xA9"};
    char want[256];
    struct { way how; const char *const *list; size_t count; } all[] = {
        {HERMES, hermes, sizeof hermes / sizeof *hermes}, {LLAMA, llama, sizeof llama / sizeof *llama},
        {MISTRAL, mistral, sizeof mistral / sizeof *mistral}, {ARGS, args, sizeof args / sizeof *args}};
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < all[i].count; k++) {
            snprintf(want, sizeof want, "|T:%s", all[i].list[k]);
            reads(all[i].how, all[i].list[k], want);
        }
    /* What is none does not hide what comes after it. */
    reads(HERMES, "<tool_call>{\"a\": <tool_call>{\"name\": \"add\", \"arguments\": {}}",
          "|T:<tool_call>{\"a\": |F:add|A:{}");
    reads(MISTRAL, "[TOOL_CALLS] [{\"name\": \"add\", \"arguments\": {}}, 5]", "|F:add|A:{}|T:, 5]");
}

static void llama_and_mistral_calls(void **state)
{
    (void)state;
    reads(LLAMA, "{\"name\": \"add\", \"parameters\": {\"a\": 1}}", "|F:add|A:{\"a\": 1}");
    reads(LLAMA, "\n<|python_tag|>{\"type\": \"function\", \"name\": \"add\", \"parameters\": {}}; {\"name\": \"a-1\", "
                 "\"parameters\": {\"b\": {}}}", "|F:add|A:{}|F:a-1|A:{\"b\": {}}");
    reads(LLAMA, "{\"name\": \"add\", \"parameters\": {}}\n{\"name\": \"add\", \"parameters\": {}}", "|F:add|A:{}|F:add|A:{}");
    reads(MISTRAL, "[TOOL_CALLS] [{\"name\": \"add\", \"arguments\": {\"a\": 1}}, {\"arguments\": {}, \"name\": \"a-1\", "
                   "\"id\": \"abcdefghi\"}]", "|F:add|A:{\"a\": 1}|F:a-1|A:{}");
    reads(MISTRAL, "So: [TOOL_CALLS][{\"name\":\"add\",\"arguments\":{}}]", "|T:So:|F:add|A:{}");
    reads(ARGS, "[TOOL_CALLS]add[ARGS]{\"a\": 1}[TOOL_CALLS]a-1[CALL_ID]abcdefghi[ARGS] {}", "|F:add|A:{\"a\": 1}|F:a-1|A:{}");
}

static void one_call_and_calls_that_are_cut_off(void **state)
{
    (void)state;
    static const char two[] = "x <tool_call>{\"name\": \"add\", \"arguments\": {}}</tool_call><tool_call>{\"name\": \"a-1\", "
                              "\"arguments\": {}}</tool_call> y";
    reads((way){.family = TOOLS_HERMES, .single = true}, two, "|T:x|F:add|A:{}");
    const way sure = {.family = TOOLS_HERMES, .sure = true};
    reads(sure, "<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": [1, 2", "|F:add|A:{\"a\": [1, 2");
    reads(sure, "<tool_call>\n{\"name\": \"add\", \"arg", "");
    reads(sure, "<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": {}}}", "|F:add|A:{\"a\": {}}");
    reads((way){.family = TOOLS_MISTRAL_ARGS, .sure = true}, "[TOOL_CALLS]add[ARGS] {\"a\": ", "|F:add|A:{\"a\": ");
}

/* ---- texts of parts ----------------------------------------------------------------------------------------------------- */

static const char *const PARTS[] = {
    "<tool_call>", "</tool_call>", "<tool_", "call>", "[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "[TOOL", "<|python_tag|>", "{", "}",
    "[", "]", ",", ":", ";", " ", "\n", "\"name\"", "\"arguments\"", "\"parameters\"", "\"add\"", "add", "a-1", "\"a\"", "1",
    "-2.5e3",
    "null", "true", "\"\\\"\"", "\"\\u00e9\"", "\xC3\xA9", "\xF0\x9F\x99\x82", "\"", "\\",
    "{\"name\": \"add\", \"arguments\": {\"a\": 1}}",
    "{\"name\": \"add\", \"parameters\": {\"a\": 1}}", "{\"a\": {}}", "\"name\": \"add\", ", "\"arguments\": {",
    "                    ",
    "<tool_call>{\"name\": \"add\", ", "[TOOL_CALLS] [{\"name\": \"a-1\", ", "[TOOL_CALLS]add[ARGS]{", "\"arguments\": {}}",
    "<tool_call>{\"name\": \"add\", \"arguments\": {}}", "[TOOL_CALLS] [{\"name\": \"add\", \"arguments\": {}}",
    "[TOOL_CALLS]add[ARGS]{}", "<|python_tag|>{\"name\": \"add\", \"parameters\": {}}"};

static void parts_change_nothing(void **state)
{
    (void)state;
    size_t calls = 0;
    for (int i = 0; i < 20000; i++) {
        char text[2048];
        size_t size = 0;
        for (uint32_t n = 1 + draw(30); n > 0 && size < sizeof text - 64; n--)
            size += (size_t)snprintf(text + size, sizeof text - size, "%s", PARTS[draw(sizeof PARTS / sizeof *PARTS)]);
        const way how = {(tool_family)(1 + draw(4)), false, draw(4) == 0};
        char *whole = read_reply(how, text, size, 0);
        calls += strstr(whole, "|F:") != NULL;
        for (uint32_t most = 1; most < 12; most += 5) {
            char *got = read_reply(how, text, size, most);
            if (strcmp(got, whole) != 0)
                fail_msg("family %d: '%s' gives '%s' whole and '%s' in parts", how.family, text, whole, got);
            free(got);
        }
        free(whole);
    }
    assert_true(calls > 500);
}

static json_t *random_value(int depth)
{
    static const char *const texts[] = {"", "x", "\"}]", "</tool_call>", "\\", "\xC3\xA9\n", "[ARGS]", "; {", "\xF0\x9F\x99\x82"};
    const uint32_t kind = draw(depth > 3 ? 5 : 7);
    json_t *made = NULL;
    switch (kind) {
    case 0: return json_integer((json_int_t)draw(1000) - 500);
    case 1: return json_real(draw(1000) / 8.0);
    case 2: return json_boolean(draw(2));
    case 3: return json_null();
    case 4: return json_string(texts[draw(9)]);
    case 5:
        made = json_array();
        for (uint32_t n = draw(4); n > 0; n--)
            json_array_append_new(made, random_value(depth + 1));
        return made;
    default:
        made = json_object();
        for (uint32_t n = draw(4); n > 0; n--)
            json_object_set_new(made, texts[draw(9)], random_value(depth + 1));
        return made;
    }
}

/* Calls as jansson writes them come back with the same name and value. */
static void any_arguments_come_back(void **state)
{
    (void)state;
    static const size_t flags[] = {0, JSON_COMPACT, JSON_INDENT(2), JSON_ENSURE_ASCII, JSON_ESCAPE_SLASH};
    static const char *const keys[] = {"", "arguments", "parameters", "arguments"};
    static const char *const before[] = {"", "<tool_call>\n", "<|python_tag|>", "[TOOL_CALLS] ["};
    for (int i = 0; i < 3000; i++) {
        const tool_family family = (tool_family)(1 + draw(3));
        const char *name = NAMES[draw(3)];
        json_t *call = json_object(), *given = json_object();
        for (uint32_t n = draw(4); n > 0; n--)
            json_object_set_new(given, n & 1 ? "k" : "name", random_value(0));
        if (draw(2))
            json_object_set_new(call, "more", random_value(0));
        json_object_set_new(call, "name", json_string(name));
        json_object_set(call, keys[family], given);
        char *json = json_dumps(call, flags[draw(5)]), *text = malloc(strlen(json) + 64);
        sprintf(text, "%s%s", before[family], json);
        char *got = read_reply((way){.family = family, .sure = draw(2)}, text, strlen(text), draw(20)), head[64];
        snprintf(head, sizeof head, "|F:%s|A:", name);
        if (strncmp(got, head, strlen(head)) != 0)
            fail_msg("'%s' gives '%s'", text, got);
        json_t *back = json_loads(got + strlen(head), 0, NULL);
        assert_true(json_equal(back, given));
        json_decref(back);
        json_decref(given);
        json_decref(call);
        free(got);
        free(text);
        free(json);
    }
}

/* ---- JSON byte by byte -------------------------------------------------------------------------------------------------- */

static bool scans(const char *text, size_t size)
{
    json_scan s = {.depth = 0};
    size_t i = 0;
    while (i < size && json_scan_next(&s, (uint8_t)text[i]))
        i++;
    return i == size && s.phase == JSON_SCAN_DONE;
}

static void json_is_what_jansson_reads(void **state)
{
    (void)state;
    static const char bytes[] = "{}[],:\"\\ \n0123456789.-+eEtrufalsn/bx\xC3\xA9\x01";
    size_t valid = 0;
    for (int i = 0; i < 60000; i++) {
        json_t *value = random_value(0);
        char *text = json_dumps(value, JSON_ENCODE_ANY | (draw(2) ? JSON_ENSURE_ASCII : JSON_INDENT(1)));
        const size_t size = strlen(text);
        for (uint32_t n = draw(3); n > 0 && size > 0; n--)
            text[draw((uint32_t)size)] = bytes[draw(sizeof bytes - 1)];
        json_error_t why;
        json_t *back = json_loadb(text, size, 0, &why);
        const bool large = !back && json_error_code(&why) == json_error_numeric_overflow; /* which is JSON */
        if (!large && scans(text, size) != (back != NULL))
            fail_msg("'%s' is %s", text, back ? "valid" : "not valid");
        valid += back != NULL;
        json_decref(back);
        json_decref(value);
        free(text);
    }
    assert_true(valid > 5000);
    char deep[2 * JSON_SCAN_DEPTH + 3];
    for (size_t i = 0; i <= JSON_SCAN_DEPTH; i++) {
        deep[i] = '[';
        deep[2 * JSON_SCAN_DEPTH + 1 - i] = ']';
    }
    assert_false(scans(deep, 2 * JSON_SCAN_DEPTH + 2));
    assert_true(scans(deep + 1, 2 * JSON_SCAN_DEPTH));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hermes_calls), cmocka_unit_test(markers_within_texts_are_text),
        cmocka_unit_test(what_only_looks_like_a_call_is_text), cmocka_unit_test(llama_and_mistral_calls),
        cmocka_unit_test(one_call_and_calls_that_are_cut_off), cmocka_unit_test(parts_change_nothing),
        cmocka_unit_test(any_arguments_come_back), cmocka_unit_test(json_is_what_jansson_reads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
