/* tests/decode/test_markup_tokens.c: the tags and texts of broken and other documents are what html5lib's tokenizer finds
 * (tools/make_markup_golden.py). What ends with the document, such as a tag without its >, it drops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/markup/entities.h"
#include "decode/markup/markup_scan.h"
#include "text/utf8.h"

#include <jansson.h>

static void append_text(buffer *to, const char *text, const markup_token *t)
{
    for (size_t at = t->from; at < t->to;) {
        entity e;
        if (text[at] != '&' || t->literal || !entity_read(text + at, t->to - at, false, &e)) {
            assert_true(buffer_append(to, text + at++, 1));
            continue;
        }
        char bytes[8];
        size_t size = utf8_put(e.code[0], bytes);
        size += e.code[1] ? utf8_put(e.code[1], bytes + size) : 0;
        assert_true(buffer_append(to, bytes, size));
        at += e.size;
    }
}

/* Whether html5lib has no token for it: </>, or a tag that does not end. */
static bool is_dropped(const char *text, const markup_token *t)
{
    const char *next = text + t->begin + 1;
    next += *next == '/';
    const bool letter = (*next >= 'a' && *next <= 'z') || (*next >= 'A' && *next <= 'Z');
    return t->kind == MARKUP_OPAQUE && (*next == '>' || letter);
}

static json_t *lower_name(const char *text, const markup_token *t)
{
    char name[64];
    assert_true(t->to - t->from < sizeof name);
    for (size_t i = t->from; i < t->to; i++)
        name[i - t->from] = (char)(text[i] | (text[i] >= 'A' && text[i] <= 'Z' ? 0x20 : 0));
    return json_stringn(name, t->to - t->from);
}

/* The list as the golden file has it; every byte is of one token. */
static json_t *tokens_of(const char *text)
{
    markup_scan scan = {.text = text, .size = strlen(text)};
    markup_token t;
    json_t *list = json_array();
    buffer run = {0};
    size_t at = 0;
    bool more = true;
    assert_true(buffer_reserve(&run, 1));
    while (more) {
        more = markup_scan_next(&scan, &t);
        if (more) {
            assert_int_equal(t.begin, at);
            assert_true(t.end > at && t.end <= scan.size);
            at = t.end;
        }
        if (more && t.kind == MARKUP_TEXT)
            append_text(&run, text, &t);
        else if (!more || !is_dropped(text, &t)) {
            if (run.size > 0)
                json_array_append_new(list, json_pack("[s, o]", "T", json_stringn(run.data, run.size)));
            run.size = 0;
            if (more && t.kind == MARKUP_OPAQUE)
                json_array_append_new(list, json_pack("[s]", "C"));
            else if (more && text[t.begin + 1] == '/')
                json_array_append_new(list, json_pack("[s, o]", "E", lower_name(text, &t)));
            else if (more)
                json_array_append_new(list, json_pack("[s, o, b]", "S", lower_name(text, &t), (int)t.untranslated));
        }
    }
    assert_int_equal(at, scan.size);
    buffer_free(&run);
    return list;
}

static void tokens_are_those_of_browsers(void **state)
{
    (void)state;
    json_error_t error;
    json_t *all = json_load_file(RAPT_SOURCE_DIR "/tests/golden/markup.json", 0, &error), *one;
    size_t i, wrong = 0;
    if (!all)
        fail_msg("%s", error.text);
    assert_true(json_array_size(all) > 500);
    json_array_foreach(all, i, one) {
        const char *document = json_string_value(json_array_get(one, 0));
        json_t *own = tokens_of(document);
        if (!json_equal(own, json_array_get(one, 1))) {
            char *has = json_dumps(own, JSON_COMPACT), *want = json_dumps(json_array_get(one, 1), JSON_COMPACT);
            print_error("%s\nhas  %s\nwant %s\n", document, has, want);
            free(has);
            free(want);
            wrong++;
        }
        json_decref(own);
    }
    json_decref(all);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tokens_are_those_of_browsers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
