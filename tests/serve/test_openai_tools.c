/* tests/serve/test_openai_tools.c: "tools": prompts are transformers', calls that are required obey, whole and streamed, alone
 * and beside others; what replies become messages; what is refused.
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

#include "serve/module/openai_calls.h"
#include "serve/module/schema_cache.h"

enum { FAMILIES = 4, CONTEXT = 3000 };

static const char *const NAMES[FAMILIES] = {"hermes", "llama", "mistral", "args"};

static openai_case served_here;
static served models[FAMILIES + 4]; /* and one whose template takes no tools, one with calls of another form, and the first
                                       and the third with markers that are tokens */
static json_t *golden;

static rapt_chat_template *template_in(const char *text)
{
    rapt_error err = {0};
    FILE *f = fopen(folder_in("chat_template.jinja"), "w");
    assert_true(f && fputs(text, f) >= 0 && fclose(f) == 0);
    f = fopen(folder_in("tokenizer_config.json"), "w");
    assert_true(f && fputs("{\"bos_token\": \"<s>\", \"eos_token\": \"</s>\"}", f) >= 0 && fclose(f) == 0);
    rapt_chat_template *chat = rapt_chat_template_load(folder_path, &err);
    if (!chat)
        fail_msg("%s", err.message);
    return chat;
}

#define MARKERS "<tool_call>", "[TOOL_CALLS]"

/* Bytes, the end of text, and two markers if `marked`. */
static rapt_tokenizer *marked_bytes(bool marked)
{
    static const char *const specials[] = {END_OF_TEXT, MARKERS};
    rapt_error err = {0};
    rapt_bpe_options o = TRAIN_BPE(.vocab_size = BYTES_VOCAB + 2, .specials = specials, .special_count = 3, .threads = 1);
    rapt_tokenizer *k = marked ? rapt_tokenizer_train_bpe("abc", 3, &o, &err) : case_bytes();
    if (!k)
        fail_msg("%s", err.message);
    return k;
}

static rapt_model *long_model(bool marked)
{
    const rapt_lm_config c = {.vocab = BYTES_VOCAB + (marked ? 2 : 0), .layers = 1, .context = CONTEXT, .embedding_std = 2,
                              .block = {.d_model = 16, .heads = 2, .ffn = 19, .norm_place = RAPT_NORM_PLACE_PRE}};
    rapt_model *m = calloc(1, sizeof *m);
    assert_non_null(m);
    *m = case_model(lm_model(&c), marked_bytes(marked));
    return m;
}

static const json_t *golden_group(const char *family)
{
    json_t *group;
    size_t i;
    json_array_foreach(json_object_get(golden, "groups"), i, group) {
        const char *is = json_string_value(json_object_get(group, "family"));
        if (is && strcmp(is, family) == 0)
            return group;
    }
    fail_msg("no templates of %s", family);
    return NULL;
}

static int set_up(void **state)
{
    if (folder_make(state))
        return -1;
    case_open(&served_here, folder_path);
    golden = json_load_file(RAPT_SOURCE_DIR "/tests/text/chat/templates.json", JSON_ALLOW_NUL, NULL);
    for (size_t i = 0; i < FAMILIES + 4; i++) {
        static const char *const more[] = {"deaf", "odd", "marked-hermes", "marked-mistral"};
        const char *text = i == FAMILIES ? CASE_TEMPLATE : "{{ tools }}{{ messages[-1].content }}";
        const char *of = i < FAMILIES ? NAMES[i] : i < FAMILIES + 2 ? NULL : more[i - FAMILIES] + strlen("marked-");
        models[i] = case_served(served_here.engine, i < FAMILIES ? NAMES[i] : more[i - FAMILIES], long_model(i > FAMILIES + 1));
        models[i].chat = template_in(of ? case_text_at((json_t *)golden_group(of), "template") : text);
        models[i].tools = tool_format_find(models[i].chat);
    }
    served_here.app.set.models = models;
    served_here.app.set.count = FAMILIES + 4;
    served_here.app.schemas = schema_cache_new();
    return served_here.app.schemas && golden ? 0 : -1;
}

static int tear_down(void **state)
{
    for (size_t i = 0; i < FAMILIES + 4; i++) {
        rapt_engine_remove(models[i].model);
        rapt_chat_template_free(models[i].chat);
    }
    schema_cache_free(served_here.app.schemas);
    case_close(&served_here);
    json_decref(golden);
    return folder_remove(state);
}

/* ---- prompts ------------------------------------------------------------------------------------------------------------ */

/* The messages as a client sends them: arguments are texts. */
static json_t *as_sent(const json_t *messages)
{
    json_t *all = json_deep_copy(messages), *message, *call;
    size_t i, k;
    json_array_foreach(all, i, message)
        json_array_foreach(json_object_get(message, "tool_calls"), k, call) {
            json_t *function = json_object_get(call, "function");
            char *text = json_dumps(json_object_get(function, "arguments"), JSON_COMPACT);
            json_object_set_new(function, "arguments", json_string(text));
            free(text);
        }
    return all;
}

/* Each byte is a token. */
static void prompts_are_those_of_transformers(void **state)
{
    (void)state;
    size_t cases = 0, i;
    json_t *one;
    for (size_t k = 0; k < FAMILIES; k++)
        json_array_foreach(json_object_get(golden_group(NAMES[k]), "cases"), i, one) {
            const json_t *want = json_object_get(one, "text"), *tools = json_object_get(json_object_get(one, "more"), "tools");
            json_t *sent = as_sent(json_object_get(json_object_get(golden, "chats"), case_text_at(one, "messages")));
            if (want && (!tools || json_array_size(tools) < 2)) {
                json_t *ask = json_pack("{s:s, s:i, s:O, s:O*}", "model", NAMES[k], "max_tokens", 1, "messages", sent, "tools",
                                        json_is_array(tools) ? tools : NULL);
                char *body = json_dumps(ask, 0);
                json_t *got = case_json(&served_here, openai_chat, body, 200);
                assert_int_equal(json_integer_value(case_at(got, "usage.prompt_tokens")), json_string_length(want));
                json_decref(got);
                json_decref(ask);
                free(body);
                cases++;
            }
            json_decref(sent);
        }
    assert_true(cases >= 25);
}

/* ---- calls that must come ----------------------------------------------------------------------------------------------- */

#define NUMBERS "{\"type\": \"function\", \"function\": {\"name\": \"numbers\", \"description\": \"d\", \"strict\": " \
    "true, \"parameters\": {\"type\": \"object\", \"properties\": {\"a\": {\"$ref\": \"#/$defs/small\"}, \"b\": {\"type\": " \
    "\"array\", \"items\": {\"$ref\": \"#/$defs/small\"}, \"maxItems\": 2}}, \"required\": [\"a\"], " \
    "\"$defs\": {\"small\": {\"type\": " \
    "\"integer\", \"minimum\": 1, \"maximum\": 99}}}}}"
#define WORDS "{\"type\": \"function\", \"function\": {\"name\": \"words\", \"parameters\": {\"type\": \"object\", " \
    "\"properties\": {\"w\": {\"type\": \"string\", \"maxLength\": 4}}, \"required\": [\"w\"]}}}"
#define NOTHING "{\"type\": \"function\", \"function\": {\"name\": \"nothing\"}}"
#define ASK(model, more) "{\"model\": \"" model "\", \"messages\": [{\"role\": \"user\", \"content\": \"h\"}], " more "}"

static char *ask_of(const char *model, int seed, const char *more)
{
    char *body;
    assert_true(asprintf(&body, "{\"model\": \"%s\", \"messages\": [{\"role\": \"user\", \"content\": \"h\"}], \"seed\": %d, "
                         "\"temperature\": 1, %s}", model, seed, more) > 0);
    return body;
}

static void call_obeys(json_t *call)
{
    const char *name = case_text_at(call, "function.name"), *arguments = case_text_at(call, "function.arguments"), *w;
    json_t *o = json_loads(arguments, JSON_REJECT_DUPLICATES, NULL), *b = NULL, *one;
    int a = 0;
    size_t i;
    assert_string_equal(case_text_at(call, "type"), "function");
    bool fine = json_is_object(o);
    if (strcmp(name, "numbers") == 0) {
        fine = fine && json_unpack(o, "{s:i, s?o!}", "a", &a, "b", &b) == 0 && a >= 1 && a <= 99 && json_array_size(b) <= 2;
        json_array_foreach(b, i, one)
            fine = fine && json_is_integer(one) && json_integer_value(one) >= 1 && json_integer_value(one) <= 99;
    } else if (strcmp(name, "words") == 0) {
        fine = fine && json_unpack(o, "{s:s!}", "w", &w) == 0;
    } else {
        assert_string_equal(name, "nothing");
        fine = fine && json_object_size(o) == 0;
    }
    if (!fine)
        fail_msg("%s: '%s' does not obey", name, arguments);
    json_decref(o);
}

/* Messages without ids, which are each response's own: a list of the choices' tool_calls and why they end. */
static json_t *calls_of(json_t *choices)
{
    json_t *all = json_array(), *choice, *call;
    size_t i, k;
    json_array_foreach(choices, i, choice) {
        json_t *calls = json_deep_copy(json_object_get(case_at(choice, "message"), "tool_calls"));
        json_array_foreach(calls, k, call)
            json_object_del(call, "id");
        json_array_append_new(all, json_pack("[o*, O, O]", calls, case_at(choice, "message.content"),
                                             case_at(choice, "finish_reason")));
    }
    return all;
}

static const char *const REQUIRED[FAMILIES] = {
    "\"n\": 4, \"tools\": [" NUMBERS ", " WORDS ", " NOTHING "], \"tool_choice\": \"required\"",
    "\"n\": 4, \"tools\": [" NUMBERS ", " WORDS ", " NOTHING "], \"tool_choice\": \"required\"",
    "\"n\": 4, \"tools\": [" NUMBERS ", " WORDS ", " NOTHING "], \"tool_choice\": \"required\"",
    "\"n\": 4, \"tools\": [" NUMBERS ", " WORDS "], \"tool_choice\": {\"type\": \"function\", \"function\": {\"name\": "
    "\"words\"}}"};

static void required_calls_obey(void **state)
{
    (void)state;
    size_t seen = 0, several = 0;
    for (size_t k = 0; k < FAMILIES; k++)
        for (int seed = 0; seed < 6; seed++) {
            char *body = ask_of(NAMES[k], seed, REQUIRED[k]);
            json_t *got = case_json(&served_here, openai_chat, body, 200), *choice, *call;
            size_t i, j;
            json_array_foreach(case_at(got, "choices"), i, choice) {
                json_t *calls = case_at(choice, "message.tool_calls");
                assert_string_equal(case_text_at(choice, "finish_reason"), "tool_calls");
                assert_true(json_is_null(case_at(choice, "message.content")));
                several += json_array_size(calls) > 1;
                json_array_foreach(calls, j, call) {
                    call_obeys(call);
                    assert_true(k < 3 || strcmp(case_text_at(call, "function.name"), "words") == 0);
                    assert_int_equal(strlen(case_text_at(call, "id")), k < 2 ? 21 : 9);
                    assert_true(j == 0 || !json_equal(case_at(call, "id"), case_at(calls, "0.id")));
                }
                seen += json_array_size(calls);
            }
            json_decref(got);
            free(body);
        }
    assert_true(seen >= 4 * 6 * 4 && several > 0);
}

/* Appends to the text of a member, in which there may be NULs. */
static void append_text(json_t *object, const char *key, const json_t *more)
{
    buffer b = {0};
    const json_t *before = json_object_get(object, key);
    assert_true(buffer_append(&b, json_is_string(before) ? json_string_value(before) : "", json_string_length(before)));
    assert_true(buffer_append(&b, json_string_value(more), json_string_length(more)));
    json_object_set_new(object, key, json_stringn(b.data, b.size));
    buffer_free(&b);
}

/* The choices of a stream as they would be whole; fails where the parts have another form than OpenAI's. */
static json_t *streamed_choices(json_t *events)
{
    json_t *choices = json_array(), *event, *part;
    size_t i, k;
    json_array_foreach(events, i, event) {
        json_t *delta = case_at(event, "choices.0.delta");
        const size_t index = (size_t)json_integer_value(case_at(event, "choices.0.index"));
        while (json_array_size(choices) <= index)
            json_array_append_new(choices, json_pack("{s:{s:n}, s:n}", "message", "content", "finish_reason"));
        json_t *choice = json_array_get(choices, index), *message = case_at(choice, "message");
        json_object_set(choice, "finish_reason", case_at(event, "choices.0.finish_reason"));
        if (json_string_length(json_object_get(delta, "content")) > 0)
            append_text(message, "content", json_object_get(delta, "content"));
        json_array_foreach(json_object_get(delta, "tool_calls"), k, part) {
            json_t *calls = json_object_get(message, "tool_calls");
            if (!calls)
                json_object_set_new(message, "tool_calls", calls = json_array());
            const size_t number = (size_t)json_integer_value(case_at(part, "index"));
            const char *more = case_text_at(part, "function.arguments");
            if (number == json_array_size(calls)) { /* the name comes first, with an id, and no arguments yet */
                assert_string_equal(more, "");
                json_array_append_new(calls, json_pack("{s:s, s:s, s:{s:s, s:s}}", "id", case_text_at(part, "id"), "type",
                                                       case_text_at(part, "type"), "function", "name",
                                                       case_text_at(part, "function.name"), "arguments", ""));
                continue;
            }
            assert_int_equal(number + 1, json_array_size(calls));
            assert_null(json_object_get(part, "id"));
            assert_true(*more);
            append_text(case_at(json_array_get(calls, number), "function"), "arguments", case_at(part, "function.arguments"));
        }
    }
    return choices;
}

static void streams_are_the_same(void **state)
{
    (void)state;
    static const char cut[] = "\"n\": 4, \"max_tokens\": 40, \"logprobs\": true, \"stream\": true, \"tools\": [" WORDS "], "
                              "\"tool_choice\": \"required\"";
    static const char text[] = "\"n\": 4, \"max_tokens\": 40, \"stream\": true, \"tools\": [" WORDS "]";
    for (size_t k = 0; k < 3 * FAMILIES; k++) {
        bool done;
        const char *more = k < FAMILIES ? REQUIRED[k] : k < 2 * FAMILIES ? cut : text;
        char *whole = ask_of(NAMES[k % FAMILIES], 5, more), *stream = ask_of(NAMES[k % FAMILIES], 5, more), *flag;
        if ((flag = strstr(whole, "\"stream\": true")))
            memcpy(flag, "\"store\" : true", 14);
        if (!strstr(stream, "\"stream\""))
            memcpy(strstr(stream, "\"temperature\": 1"), "\"stream\" : true ", 16);
        json_t *got = case_json(&served_here, openai_chat, whole, 200);
        exchange *x = case_ask(&served_here, openai_chat, stream);
        json_t *events = case_events(x, &done), *choices = streamed_choices(events);
        json_t *want = calls_of(case_at(got, "choices")), *have = calls_of(choices);
        assert_true(done);
        if (!json_equal(want, have))
            fail_msg("%s gives %s whole, %s in parts", stream, json_dumps(want, 0), json_dumps(have, 0));
        exchange_release(x);
        json_decref(got);
        json_decref(events);
        json_decref(choices);
        json_decref(want);
        json_decref(have);
        free(whole);
        free(stream);
    }
}

/* All at once and one after the other. */
static void replies_do_not_depend_on_others(void **state)
{
    (void)state;
    enum { REQUESTS = 8 };
    exchange *x[REQUESTS];
    for (int i = 0; i < REQUESTS; i++) {
        char *body = ask_of(NAMES[i % FAMILIES], i, REQUIRED[i % FAMILIES]);
        x[i] = case_post("/", body);
        openai_chat(&served_here.app, x[i]);
        free(body);
    }
    for (int i = 0; i < REQUESTS; i++) {
        char *body = ask_of(NAMES[i % FAMILIES], i, REQUIRED[i % FAMILIES]);
        case_wait(x[i]);
        json_t *beside = case_object(x[i], 200), *alone = case_json(&served_here, openai_chat, body, 200);
        json_t *a = calls_of(case_at(beside, "choices")), *b = calls_of(case_at(alone, "choices"));
        assert_true(json_equal(a, b));
        exchange_release(x[i]);
        json_decref(beside);
        json_decref(alone);
        json_decref(a);
        json_decref(b);
        free(body);
    }
}

/* ---- strict tools ------------------------------------------------------------------------------------------------------- */

/* A model that writes the marker whenever it may: calls obey, and calls of tools that are not strict have an object. */
static void strict_calls_obey(void **state)
{
    (void)state;
    size_t seen = 0;
    static const char *const specials[] = {MARKERS};
    for (size_t k = 0; k < 24; k++) {
        char more[1024];
        const size_t at = FAMILIES + 2 + k % 2;
        const rapt_tokenizer *t = rapt_engine_model_of(models[at].model)->language.tokenizer;
        snprintf(more, sizeof more, "\"store\" : true, \"max_tokens\": 300, \"stop\": \"\\u0001\", \"logit_bias\": {\"%d\": 12}, "
                 "\"tools\": [" NUMBERS ", " WORDS "]", (int)rapt_tokenizer_special(t, specials[k % 2]));
        char *body = ask_of(models[at].name, (int)k, more);
        exchange *x = case_ask(&served_here, openai_chat, body);
        memcpy(strstr(body, "\"store\" : true"), "\"stream\": true", 14);
        exchange *stream = case_ask(&served_here, openai_chat, body);
        json_t *got = case_object(x, 200), *message = case_at(got, "choices.0.message"), *call;
        size_t i;
        bool done;
        json_t *events = case_events(stream, &done), *choices = streamed_choices(events);
        json_t *whole = calls_of(case_at(got, "choices")), *parts = calls_of(choices);
        assert_true(done && json_equal(whole, parts));
        assert_null(case_header(x, "X-Rapt-Replay")); /* no option of the command says the same */
        json_array_foreach(json_object_get(message, "tool_calls"), i, call) {
            json_t *o = json_loads(case_text_at(call, "function.arguments"), 0, NULL);
            if (strcmp(case_text_at(call, "function.name"), "numbers") == 0)
                call_obeys(call);
            assert_true(json_is_object(o));
            json_decref(o);
            seen++;
        }
        /* Each marker began a call, unless the reply was cut off. */
        const char *content = json_string_value(case_at(message, "content"));
        const char *left = content ? strstr(content, specials[k % 2]) : NULL;
        if (left && strcmp(case_text_at(got, "choices.0.finish_reason"), "length") != 0)
            fail_msg("a call that is none: %s", left);
        exchange_release(stream);
        json_decref(events);
        json_decref(choices);
        json_decref(whole);
        json_decref(parts);
        exchange_release(x);
        json_decref(got);
        free(body);
    }
    assert_true(seen > 24);
}

/* ---- replies that may call ---------------------------------------------------------------------------------------------- */

static json_t *message_of(size_t family, bool single, const char *reply, const char *finish)
{
    static const char *const names[] = {"numbers", "words"};
    openai_request r = {.tools = {.format = models[family].tools, .names = {names, 2}, .single = single}};
    openai_choice c = {.request = &r, .response_id = "chatcmpl-0123", .finish = finish};
    assert_true(buffer_append(&c.text, reply, strlen(reply)));
    json_t *choice = openai_calls_whole(&c, json_null());
    assert_non_null(choice);
    buffer_free(&c.text);
    return choice;
}

static void replies_become_messages(void **state)
{
    (void)state;
    json_t *c = message_of(0, false, "I ask.\n<tool_call>\n{\"name\": \"words\", \"arguments\": {\"w\": "
                           "\"\\u00e9\\\"</tool_call>\"}}\n</tool_call>\n<tool_call>\n{\"name\": \"numbers\", "
                           "\"arguments\": {}}\n</tool_call>", "stop");
    assert_string_equal(case_text_at(c, "message.content"), "I ask.");
    assert_string_equal(case_text_at(c, "message.tool_calls.0.function.name"), "words");
    assert_string_equal(case_text_at(c, "message.tool_calls.0.function.arguments"), "{\"w\": \"\\u00e9\\\"</tool_call>\"}");
    assert_string_equal(case_text_at(c, "message.tool_calls.1.function.arguments"), "{}");
    assert_string_equal(case_text_at(c, "finish_reason"), "tool_calls");
    json_decref(c);
    c = message_of(0, true, "<tool_call>{\"name\": \"words\", \"arguments\": {}}</tool_call><tool_call>{\"name\": \"words\", "
                   "\"arguments\": {}}</tool_call>", "length");
    assert_true(json_is_null(case_at(c, "message.content")));
    assert_int_equal(json_array_size(case_at(c, "message.tool_calls")), 1);
    assert_string_equal(case_text_at(c, "finish_reason"), "length");
    json_decref(c);
    c = message_of(1, false, "{\"name\": \"verbs\", \"parameters\": {}}", "stop");
    assert_string_equal(case_text_at(c, "message.content"), "{\"name\": \"verbs\", \"parameters\": {}}");
    assert_null(json_object_get(case_at(c, "message"), "tool_calls"));
    assert_string_equal(case_text_at(c, "finish_reason"), "stop");
    json_decref(c);
}

/* The parameters become part of a larger schema: references in them move, values and names that look like keywords stay. */
static void values_stay(void **state)
{
    (void)state;
    static const char tool[] = "\"tools\": [{\"type\": \"function\", \"function\": {\"name\": \"f\", \"parameters\": "
        "{\"properties\": {\"const\": {\"$ref\": \"#/$defs/enum\"}}, \"required\": [\"const\"], \"additionalProperties\": false, "
        "\"$defs\": {\"enum\": {\"const\": {\"$ref\": \"#/a\"}}}}}}], \"tool_choice\": \"required\"";
    for (size_t k = 0; k < FAMILIES; k++) {
        char *body = ask_of(NAMES[k], 1, tool);
        json_t *got = case_json(&served_here, openai_chat, body, 200), *want = json_pack("{s:{s:s}}", "const", "$ref", "#/a");
        json_t *given = json_loads(case_text_at(got, "choices.0.message.tool_calls.0.function.arguments"), 0, NULL);
        assert_true(json_equal(given, want));
        json_decref(given);
        json_decref(want);
        json_decref(got);
        free(body);
    }
}

/* ---- what is refused ---------------------------------------------------------------------------------------------------- */

#define TOOL(function) "\"tools\": [{\"type\": \"function\", \"function\": " function "}]"
/* Each may be made alone, but not three at once. */
#define SLOW(name) "{\"type\": \"function\", \"function\": {\"name\": \"" name "\", \"parameters\": {\"properties\": " \
    "{\"w\": {\"type\": \"string\", \"pattern\": \"(a|b)*a(a|b){8}" name "\"}}}}}"
#define TALK(messages) "{\"model\": \"hermes\", \"messages\": [" messages "]}"
#define CALLED(call) TALK("{\"role\": \"assistant\", \"tool_calls\": [" call "]}")

static void refusals_name_the_field(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {ASK("hermes", "\"tools\": 5"), "tools: a list is expected"},
        {ASK("hermes", "\"tools\": [5]"), "tools[0]: an object is expected"},
        {ASK("hermes", "\"tools\": [{\"type\": \"web\"}]"), "tools[0].type: \"web\" is not supported; function is"},
        {ASK("hermes", "\"tools\": [{\"type\": \"function\"}]"), "tools[0].function: this field is required"},
        {ASK("hermes", TOOL("{}")), "tools[0].function.name: this field is required"},
        {ASK("hermes", TOOL("{\"name\": \"a b\"}")), "tools[0].function.name: 1 to 64 letters"},
        {ASK("hermes", TOOL("{\"name\": \"a\", \"x\": 1}")), "tools[0].function.x: this field is not supported"},
        {ASK("hermes", TOOL("{\"name\": \"a\", \"parameters\": []}")), "tools[0].function.parameters: a JSON schema is expected"},
        {ASK("hermes", TOOL("{\"name\": \"a\", \"parameters\": {\"type\": \"array\"}}")),
         "tools[0].function.parameters: its \"type\" must be \"object\""},
        {ASK("hermes", "\"tools\": [" WORDS ", " NOTHING ", " WORDS "]"),
         "tools[2].function.name: \"words\" is the name of tools[0] as well"},
        {ASK("hermes", "\"tool_choice\": \"required\""), "tool_choice: there are no \"tools\""},
        {ASK("hermes", "\"tools\": [" WORDS "], \"tool_choice\": \"any\""), "tool_choice: \"any\" is not supported"},
        {ASK("hermes", "\"tools\": [" WORDS "], \"tool_choice\": {\"type\": \"function\", \"function\": {\"name\": \"x\"}}"),
         "tool_choice.function.name: no tool is called \"x\""},
        {ASK("hermes", "\"tools\": [" WORDS "], \"tool_choice\": {\"type\": \"allowed_tools\"}"), "tool_choice.type: "},
        {ASK("hermes", "\"tools\": [" WORDS ", {\"type\": \"function\", \"function\": {\"name\": \"x\", \"parameters\": "
             "{\"properties\": {\"a\": {\"not\": {}}}}}}], \"tool_choice\": \"required\""),
         "tools[1].function.parameters: schema, #/properties/a: \"not\" is not supported"},
        {ASK("hermes", TOOL("{\"name\": \"a\", \"parameters\": {\"properties\": {\"a\": {\"$ref\": \"#/$defs/x\"}}}}") ", "
             "\"tool_choice\": \"required\""), "tools[0].function.parameters: schema, #/properties/a: \"$ref\": \"#/$defs/x\""},
        {ASK("mistral", "\"tools\": [" SLOW("a") ", " SLOW("b") ", " SLOW("c") "], \"tool_choice\": \"required\""),
         "tools[2].function.parameters: schema, #/properties/w: pattern \"(a|b)*a(a|b){8}c\": its automaton takes too many"},
        {ASK("hermes", "\"tools\": [" WORDS "], \"tool_choice\": \"required\", \"stop\": \"x\""), "stop: beside tool_choice"},
        {ASK("hermes", "\"tools\": [" WORDS "], \"response_format\": {\"type\": \"json_object\"}"), "response_format: beside"},
        {ASK("deaf", "\"tools\": [" WORDS "]"), "tools: the chat template of \"deaf\" takes no tools"},
        {ASK("odd", "\"tools\": [" WORDS "]"), "tools: the chat template of \"odd\" writes calls in a form that is not known"},
        {ASK("args", "\"tools\": [" WORDS ", " NOTHING "], \"tool_choice\": \"required\""), "tool_choice: with the form of"},
        {ASK("hermes", "\"functions\": [{}]"), "functions: "},
        {TALK("{\"role\": \"tool\", \"content\": \"c\"}"), "messages[0].tool_call_id: this field is required"},
        {TALK("{\"role\": \"user\", \"content\": \"c\", \"tool_calls\": [{}]}"), "messages[0].tool_calls: "},
        {CALLED("5"), "messages[0].tool_calls[0]: an object is expected"},
        {CALLED("{\"id\": \"i\"}"), "messages[0].tool_calls[0].function: this field is required"},
        {CALLED("{\"function\": {\"name\": \"n\", \"arguments\": \"{}\"}}"), "messages[0].tool_calls[0].id: "},
        {CALLED("{\"id\": \"i\", \"function\": {\"name\": \"n\", \"arguments\": {}}}"),
         "messages[0].tool_calls[0].function.arguments: a string is expected"},
        {CALLED("{\"id\": \"i\", \"function\": {\"name\": \"n\", \"arguments\": \"[]\"}}"),
         "messages[0].tool_calls[0].function.arguments: a JSON object is expected"},
        {CALLED("{\"id\": \"i\", \"function\": {\"name\": \"n\", \"arguments\": \"{\"}}"),
         "messages[0].tool_calls[0].function.arguments: a JSON object is expected"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *got = case_json(&served_here, openai_chat, cases[i][0], 400);
        if (!strstr(case_text_at(got, "error.message"), cases[i][1]))
            fail_msg("%s: '%s' has no '%s'", cases[i][0], case_text_at(got, "error.message"), cases[i][1]);
        json_decref(got);
    }
}

/* "none" takes tools away; so the template need not know them. Many tools and deep parameters are refused before work begins. */
static void bounds_and_none(void **state)
{
    (void)state;
    json_t *got = case_json(&served_here, openai_chat, ASK("deaf", "\"max_tokens\": 1, \"tools\": [" WORDS "], "
                            "\"tool_choice\": \"none\""), 200);
    assert_int_equal(json_integer_value(case_at(got, "usage.prompt_tokens")), strlen("<user>h<a>"));
    json_decref(got);
    buffer b = {0};
    static const char head[] = "{\"model\": \"hermes\", \"messages\": [{\"role\": \"user\", \"content\": \"h\"}], \"tools\": [";
    assert_true(buffer_append(&b, head, strlen(head)));
    for (int i = 0; i < 129; i++) {
        char tool[128];
        const int size = snprintf(tool, sizeof tool, "%s{\"type\": \"function\", \"function\": {\"name\": \"f%d\"}}",
                                  i ? "," : "", i);
        assert_true(buffer_append(&b, tool, (size_t)size));
    }
    assert_true(buffer_append(&b, "]}", 2));
    got = case_json(&served_here, openai_chat, b.data, 400);
    assert_non_null(strstr(case_text_at(got, "error.message"), "tools: 129 tools, where at most 128 are taken"));
    json_decref(got);
    b.size = 0;
    static const char deep[] = "{\"type\": \"function\", \"function\": {\"name\": \"f\", \"parameters\": ";
    assert_true(buffer_append(&b, head, strlen(head)) && buffer_append(&b, deep, strlen(deep)));
    for (int i = 0; i < 70; i++)
        assert_true(buffer_append(&b, "{\"a\":", 5));
    assert_true(buffer_append(&b, "1", 1));
    for (int i = 0; i < 70; i++)
        assert_true(buffer_append(&b, "}", 1));
    assert_true(buffer_append(&b, "}}]}", 4));
    got = case_json(&served_here, openai_chat, b.data, 400);
    assert_non_null(strstr(case_text_at(got, "error.message"), "tools[0].function.parameters: more than 64 levels"));
    json_decref(got);
    buffer_free(&b);
}

/* Right requests with a few bytes changed: an answer, or a refusal. */
static void mutations_are_survived(void **state)
{
    (void)state;
    static const char bytes[] = "09-.eE[]{}\",:ntf\\ux$#/_\xC3\xFF ";
    static const char *const right[] = {
        ASK("hermes", "\"max_tokens\": 2, \"tools\": [" NUMBERS ", " NOTHING "], \"tool_choice\": \"required\""),
        ASK("mistral", "\"max_tokens\": 2, \"tools\": [" WORDS "], \"stream\": true, \"tool_choice\": {\"type\": \"function\", "
            "\"function\": {\"name\": \"words\"}}"),
        ASK("marked-hermes", "\"max_tokens\": 2, \"tools\": [" NUMBERS "], \"parallel_tool_calls\": false"),
        "{\"model\": \"llama\", \"max_tokens\": 2, \"messages\": [{\"role\": \"user\", \"content\": \"h\"}, {\"role\": "
        "\"assistant\", \"content\": null, \"tool_calls\": [{\"id\": \"i\", \"type\": \"function\", \"function\": {\"name\": "
        "\"words\", \"arguments\": \"{\\\"w\\\": [1, {}]}\"}}]}, {\"role\": \"tool\", \"tool_call_id\": \"i\", \"content\": "
        "\"c\"}], \"tools\": [" WORDS "]}"};
    enum { RIGHT = sizeof right / sizeof *right };
    uint32_t random = 7;
    size_t taken = 0;
    for (size_t i = 0; i < 1200; i++) {
        char *body = strdup(right[i % RIGHT]);
        const size_t size = strlen(body);
        for (size_t change = 0; change < i / RIGHT % 4; change++) {
            random = random * 1664525u + 1013904223u;
            body[(random >> 8) % size] = bytes[(random >> 24) % (sizeof bytes - 1)];
        }
        exchange *x = case_request("POST", "/", "application/json", body, size);
        openai_chat(&served_here.app, x);
        case_wait(x);
        const int status = case_status(x);
        if (status != 200 && status != 400 && status != 404)
            fail_msg("status %d: %s", status, body);
        taken += status == 200;
        exchange_release(x);
        free(body);
    }
    assert_true(taken > 300 && taken < 900);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prompts_are_those_of_transformers), cmocka_unit_test(required_calls_obey),
        cmocka_unit_test(streams_are_the_same), cmocka_unit_test(replies_do_not_depend_on_others),
        cmocka_unit_test(strict_calls_obey), cmocka_unit_test(values_stay),
        cmocka_unit_test(replies_become_messages), cmocka_unit_test(refusals_name_the_field),
        cmocka_unit_test(bounds_and_none), cmocka_unit_test(mutations_are_survived)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
