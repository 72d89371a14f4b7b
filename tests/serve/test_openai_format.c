/* tests/serve/test_openai_format.c: "response_format" and "text.format": replies obey, and are the texts of a generator with the
 * same constraint, whole and streamed, alone and beside others; what is remembered of schemas.
 * labels: threads */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "folder.h"
#include "options.h"
#include "serve/openai_case.h"

#include "decode/schema/constraint.h"
#include "serve/module/schema_cache.h"

static openai_case served_here;

static int set_up(void **state)
{
    if (folder_make(state))
        return -1;
    case_open(&served_here, folder_path);
    served_here.app.schemas = schema_cache_new();
    return served_here.app.schemas ? 0 : -1;
}

static int tear_down(void **state)
{
    case_close(&served_here);
    schema_cache_free(served_here.app.schemas);
    return folder_remove(state);
}

#define SCHEMA "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":99}," \
    "\"b\":{\"enum\":[\"x\",\"yy\"]}},\"required\":[\"a\",\"b\"],\"additionalProperties\":false}"
#define FORMAT "\"response_format\": {\"type\": \"json_schema\", \"json_schema\": {\"name\": \"n\", \"strict\": true, " \
    "\"schema\": " SCHEMA "}}"

static void obeys(const char *text)
{
    json_t *o = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    int a = 0;
    const char *b = "";
    if (!o || json_unpack(o, "{s:i, s:s!}", "a", &a, "b", &b))
        fail_msg("'%s' does not obey", text);
    assert_true(a >= 1 && a <= 99 && (strcmp(b, "x") == 0 || strcmp(b, "yy") == 0));
    json_decref(o);
}

/* Four samples; a text that ends by itself obeys. */
static void texts_obey_and_are_a_generators(void **state)
{
    (void)state;
    int32_t ids[3];
    size_t whole = 0;
    rapt_constraint *c = rapt_constraint_json_schema(SCHEMA, strlen(SCHEMA), NULL);
    const rapt_generate_options o = GENERATE(.sample = {.temperature = 1, .top_p = 1, .seed = 3, .repetition_penalty = 1},
                                             .max_tokens = 37, .constraint = c);
    json_t *got = case_json(&served_here, openai_completions, "{\"model\": \"bytes\", \"prompt\": \"abc\", \"seed\": 3, "
                            "\"n\": 4, \"max_tokens\": 37, " FORMAT "}", 200);
    case_ids(&served_here, "abc", ids);
    for (size_t i = 0; i < 4; i++) {
        json_t *choice = json_array_get(case_at(got, "choices"), i);
        rapt_generated want = case_generated(&served_here, &o, ids, 3, i);
        assert_string_equal(case_text_at(choice, "text"), want.text);
        if (strcmp(case_text_at(choice, "finish_reason"), "stop") == 0) {
            obeys(want.text);
            whole++;
        }
        rapt_generated_free(&want);
    }
    assert_true(whole > 0);
    rapt_constraint_free(c);
    json_decref(got);
}

static json_t *streamed_text(json_t *events)
{
    json_t *event;
    size_t i;
    char text[512] = "";
    json_array_foreach(events, i, event) {
        json_t *choice = json_array_get(json_object_get(event, "choices"), 0);
        const char *part = json_string_value(json_object_get(json_object_get(choice, "delta"), "content"));
        strcat(text, part ? part : "");
    }
    return json_string(text);
}

#define REQUEST(more) "{\"model\": \"chatty\", \"messages\": [{\"role\": \"user\", \"content\": \"hi\"}], \"seed\": 6, " \
    FORMAT more "}"

static void replies_are_completions(void **state)
{
    (void)state;
    bool done;
    json_t *text = case_json(&served_here, openai_completions, "{\"model\": \"chatty\", \"prompt\": \"<user>hi<a>\", "
                             "\"seed\": 6, \"max_tokens\": 29, " FORMAT "}", 200);
    exchange *x = case_ask(&served_here, openai_chat, REQUEST(""));
    exchange *stream = case_ask(&served_here, openai_chat, REQUEST(", \"stream\": true"));
    json_t *chat = case_object(x, 200), *events = case_events(stream, &done), *parts = streamed_text(events);
    assert_true(json_equal(case_at(chat, "choices.0.message.content"), case_at(text, "choices.0.text")));
    assert_true(json_equal(case_at(chat, "choices.0.message.content"), parts));
    assert_string_equal(case_header(x, "X-Rapt-Replay"),
                        "rapt generate chatty --no-prompt --max-tokens 29 --temperature 1 --top-k 0 --top-p 1 --min-p 0 "
                        "--typical-p 0 --repetition-penalty 1 --seed 6 --samples 1 --json-schema <(printf %s '" SCHEMA "') "
                        "--prompt '<user>hi<a>'");
    exchange_release(x);
    exchange_release(stream);
    json_decref(text);
    json_decref(chat);
    json_decref(events);
    json_decref(parts);
}

/* A response has the text of a chat with the same format, and repeats the format. */
static void responses_are_chats(void **state)
{
    (void)state;
    static const char *const formats[][2] = {
        {"{\"type\": \"json_schema\", \"name\": \"n\", \"strict\": true, \"schema\": " SCHEMA "}", FORMAT},
        {"{\"type\": \"json_object\"}", "\"response_format\": {\"type\": \"json_object\"}"},
        {"{\"type\": \"text\"}", "\"response_format\": null"}};
    for (size_t i = 0; i < 3; i++) {
        char body[1024];
        snprintf(body, sizeof body, "{\"model\": \"chatty\", \"messages\": [{\"role\": \"user\", \"content\": \"hi\"}], "
                 "\"seed\": 6, \"max_tokens\": 29, %s}", formats[i][1]);
        json_t *chat = case_json(&served_here, openai_chat, body, 200), *format = json_loads(formats[i][0], 0, NULL);
        snprintf(body, sizeof body, "{\"model\": \"chatty\", \"input\": \"hi\", \"seed\": 6, \"max_output_tokens\": 29, "
                 "\"text\": {\"verbosity\": \"medium\", \"format\": %s}}", formats[i][0]);
        json_t *got = case_json(&served_here, openai_responses, body, 200);
        assert_true(json_equal(case_at(got, "output.0.content.0.text"), case_at(chat, "choices.0.message.content")));
        assert_true(json_equal(case_at(got, "text.format"), format));
        json_decref(format);
        json_decref(chat);
        json_decref(got);
    }
}

static void any_object_and_text_are_formats(void **state)
{
    (void)state;
    static const char ask[] = "{\"model\": \"bytes\", \"prompt\": \"abc\", \"seed\": 3, \"response_format\": %s}";
    char body[256];
    snprintf(body, sizeof body, ask, "{\"type\": \"json_object\"}");
    exchange *x = case_ask(&served_here, openai_completions, body);
    json_t *got = case_object(x, 200);
    const char *text = case_text_at(got, "choices.0.text");
    assert_int_equal(text[strspn(text, " \n")], '{');
    assert_non_null(strstr(case_header(x, "X-Rapt-Replay"), " --json-object "));
    json_decref(got);
    exchange_release(x);
    snprintf(body, sizeof body, ask, "{\"type\": \"text\"}");
    got = case_json(&served_here, openai_completions, body, 200);
    json_t *plain = case_json(&served_here, openai_completions, "{\"model\": \"bytes\", \"prompt\": \"abc\", \"seed\": 3}", 200);
    assert_true(json_equal(case_at(got, "choices"), case_at(plain, "choices")));
    json_decref(got);
    json_decref(plain);
}

/* ---- what is remembered ------------------------------------------------------------------------------------------------- */

static rapt_constraint *numbered(schema_cache *c, int i, bool keep)
{
    char text[64];
    const size_t size = (size_t)snprintf(text, sizeof text, "{\"const\":%d}", i);
    rapt_constraint *found = schema_cache_find(c, text, size);
    if (found || !keep)
        return found;
    found = rapt_constraint_json_schema(text, size, NULL);
    schema_cache_keep(c, text, size, found);
    schema_cache_keep(c, text, size, found); /* as a thread that was slower */
    return found;
}

static void schemas_are_remembered(void **state)
{
    (void)state;
    schema_cache *c = schema_cache_new();
    rapt_constraint *first = numbered(c, 0, true), *found;
    for (int i = 1; i < 20; i++) {
        rapt_constraint_free(numbered(c, i, true));
        found = numbered(c, 0, false); /* what is asked for stays */
        assert_ptr_equal(found, first);
        rapt_constraint_free(found);
    }
    assert_null(numbered(c, 4, false)); /* 16 stay */
    found = numbered(c, 5, false);
    assert_non_null(found);
    schema_cache_free(c);
    assert_true(constraint_bytes(found) > 0); /* the reference is one's own */
    rapt_constraint_free(found);
    rapt_constraint_free(first);
    found = schema_cache_find(served_here.app.schemas, SCHEMA, strlen(SCHEMA)); /* that requests had */
    assert_non_null(found);
    rapt_constraint_free(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_obey_and_are_a_generators), cmocka_unit_test(replies_are_completions),
        cmocka_unit_test(responses_are_chats),
        cmocka_unit_test(any_object_and_text_are_formats), cmocka_unit_test(schemas_are_remembered)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
