/* tests/serve/test_openai_chat.c: chats by a template are completions of its text, and with a translation model translations;
 * the list of models.
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

#include "base/buffer.h"

static openai_case served_here;

static int set_up(void **state)
{
    if (folder_make(state))
        return -1;
    case_open(&served_here, folder_path);
    return 0;
}

static int tear_down(void **state)
{
    case_close(&served_here);
    return folder_remove(state);
}

static exchange *get(const char *target, app_route_fn *route)
{
    exchange *x = case_request("GET", target, NULL, "", 0);
    route(&served_here.app, x);
    case_wait(x);
    return x;
}

/* ---- chat --------------------------------------------------------------------------------------------------------------- */

#define MESSAGES "\"messages\": [{\"role\": \"developer\", \"content\": \"Be.\"}, {\"role\": \"user\", \"content\": " \
                 "[{\"type\": \"text\", \"text\": \"h\"}, {\"type\": \"text\", \"text\": \"i\"}]}]"
#define TEMPLATED "<system>Be.<user>hi<a>" /* of these messages */

static void replies_are_completions_of_the_template(void **state)
{
    (void)state;
    static const char rest[] = "\"seed\": 3, \"n\": 2, \"max_tokens\": 9";
    char body[512];
    snprintf(body, sizeof body, "{\"model\": \"chatty\", \"prompt\": \"" TEMPLATED "\", \"logprobs\": 0, %s}", rest);
    json_t *text = case_json(&served_here, openai_completions, body, 200);
    snprintf(body, sizeof body, "{\"model\": \"chatty\", " MESSAGES ", \"logprobs\": true, \"top_logprobs\": 2, %s}", rest);
    exchange *x = case_ask(&served_here, openai_chat, body);
    json_t *chat = case_object(x, 200);
    for (size_t i = 0; i < 2; i++) {
        json_t *reply = json_array_get(case_at(chat, "choices"), i), *want = json_array_get(case_at(text, "choices"), i);
        json_t *content = case_at(reply, "logprobs.content"), *log_probs = case_at(want, "logprobs.token_logprobs"), *one;
        size_t j;
        assert_true(json_equal(case_at(reply, "message.content"), case_at(want, "text")));
        assert_string_equal(case_text_at(reply, "message.role"), "assistant");
        assert_string_equal(case_text_at(reply, "finish_reason"), "length");
        assert_true(json_is_null(case_at(reply, "message.refusal")));
        assert_int_equal(json_array_size(content), 9);
        json_array_foreach(content, j, one) {
            assert_true(json_equal(case_at(one, "logprob"), json_array_get(log_probs, j)));
            assert_true(json_equal(case_at(one, "token"), json_array_get(case_at(want, "logprobs.tokens"), j)));
            assert_int_equal(json_array_size(case_at(one, "top_logprobs")), 2);
            assert_int_equal(json_array_size(case_at(one, "bytes")), 1);
            assert_true(json_number_value(case_at(one, "top_logprobs.0.logprob")) >=
                        json_number_value(case_at(one, "top_logprobs.1.logprob")));
        }
    }
    assert_string_equal(case_text_at(chat, "object"), "chat.completion");
    assert_memory_equal(case_text_at(chat, "id"), "chatcmpl-", 9);
    assert_int_equal(json_integer_value(case_at(chat, "usage.prompt_tokens")), strlen(TEMPLATED));
    assert_string_equal(case_header(x, "X-Rapt-Replay"),
                        "rapt generate chatty --no-prompt --max-tokens 9 --temperature 1 --top-k 0 --top-p 1 --min-p 0 "
                        "--typical-p 0 --repetition-penalty 1 --seed 3 --samples 2 --prompt '" TEMPLATED "'");
    json_decref(chat);
    json_decref(text);
    exchange_release(x);
}

/* What clients send that asks for nothing: the reply is the same. */
static void what_asks_for_nothing_is_taken(void **state)
{
    static const char *const more[] = {
        "\"reasoning_effort\": null, \"prediction\": null, \"audio\": null, \"web_search_options\": null",
        "\"reasoning_effort\": \"none\", \"store\": true",
        "\"store\": false, \"presence_penalty\": 0, \"frequency_penalty\": 0.0",
        "\"chat_template_kwargs\": {\"unused\": true}", "\"chat_template_kwargs\": null"};
    static const char asked[] = "{\"model\": \"chatty\", " MESSAGES ", \"seed\": 3, \"max_tokens\": 9%s%s}";
    char body[1024];
    (void)state;
    snprintf(body, sizeof body, asked, "", "");
    json_t *plain = case_json(&served_here, openai_chat, body, 200);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        snprintf(body, sizeof body, asked, ", ", more[i]);
        json_t *got = case_json(&served_here, openai_chat, body, 200);
        assert_true(json_equal(case_at(got, "choices"), case_at(plain, "choices")));
        json_decref(got);
    }
    json_decref(plain);
    json_t *silent = case_json(&served_here, openai_chat, "{\"model\": \"chatty\", \"seed\": 1, \"max_tokens\": 3, \"messages\": "
                               "[{\"role\": \"user\", \"content\": \"a\"}, {\"role\": \"assistant\", \"content\": null}, "
                               "{\"role\": \"assistant\"}, {\"role\": \"user\", \"content\": \"b\"}]}", 200);
    json_decref(silent);
    /* A template has its variables: one more letter of the prompt. */
    json_t *loud = case_json(&served_here, openai_chat, "{\"model\": \"chatty\", " MESSAGES ", \"max_tokens\": 1, "
                             "\"chat_template_kwargs\": {\"loud\": true}}", 200);
    assert_int_equal(json_integer_value(case_at(loud, "usage.prompt_tokens")), strlen(TEMPLATED) + 1);
    json_decref(loud);
}

/* Without a number of tokens the context is the end. */
static void replies_end_with_the_context(void **state)
{
    (void)state;
    json_t *chat = case_json(&served_here, openai_chat, "{\"model\": \"chatty\", " MESSAGES ", \"temperature\": 0}", 200);
    assert_int_equal(json_integer_value(case_at(chat, "usage.total_tokens")), CASE_CONTEXT);
    json_decref(chat);
    chat = case_json(&served_here, openai_chat, "{\"model\": \"chatty\", " MESSAGES ", \"max_completion_tokens\": 2, "
                     "\"seed\": 3}", 200);
    assert_int_equal(json_integer_value(case_at(chat, "usage.completion_tokens")), 2);
    json_decref(chat);
}

/* The events of a stream. */
static json_t *chat_events(const char *body)
{
    bool done;
    json_t *event;
    size_t i;
    exchange *x = case_ask(&served_here, openai_chat, body);
    json_t *events = case_events(x, &done);
    json_array_foreach(events, i, event)
        assert_string_equal(case_text_at(event, "object"), "chat.completion.chunk");
    assert_true(done);
    exchange_release(x);
    return events;
}

/* The deltas of choice `index` have its content, between an empty one with the role and an empty one with the reason. */
static void assert_deltas(json_t *events, size_t index, json_t *content)
{
    buffer text = {0};
    json_t *event;
    size_t i, seen = 0;
    bool over = false;
    json_array_foreach(events, i, event) {
        json_t *choice = json_array_get(case_at(event, "choices"), 0);
        if (!choice || (size_t)json_integer_value(case_at(choice, "index")) != index)
            continue;
        json_t *part = json_object_get(case_at(choice, "delta"), "content");
        assert_false(over);
        over = json_is_string(case_at(choice, "finish_reason"));
        if (seen++ == 0) {
            assert_string_equal(case_text_at(choice, "delta.role"), "assistant");
            assert_string_equal(json_string_value(part), "");
        }
        assert_int_equal(json_object_size(case_at(choice, "delta")), over ? 0 : seen == 1 ? 2 : 1);
        assert_true(buffer_append(&text, part ? json_string_value(part) : "", json_string_length(part)));
    }
    assert_true(over);
    assert_int_equal(text.size, json_string_length(content));
    assert_memory_equal(text.data, json_string_value(content), text.size);
    buffer_free(&text);
}

static void chats_are_streamed(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "{\"model\": \"chatty\", " MESSAGES ", \"seed\": 5, \"n\": 2%s}",
        "{\"model\": \"chatty\", " MESSAGES ", \"seed\": 6, \"logprobs\": true%s}",
        "{\"model\": \"en-fr\", \"messages\": [{\"role\": \"user\", \"content\": \"w1 w2\\nw3\"}]%s}"};
    for (size_t i = 0; i < 3; i++) {
        char body[512];
        snprintf(body, sizeof body, bodies[i], "");
        json_t *whole = case_json(&served_here, openai_chat, body, 200);
        snprintf(body, sizeof body, bodies[i], ", \"stream\": true, \"stream_options\": {\"include_usage\": true}");
        json_t *events = chat_events(body), *last = json_array_get(events, json_array_size(events) - 1);
        for (size_t j = 0; j < json_array_size(case_at(whole, "choices")); j++)
            assert_deltas(events, j, case_at(json_array_get(case_at(whole, "choices"), j), "message.content"));
        assert_int_equal(json_array_size(case_at(last, "choices")), 0);
        assert_true(json_equal(case_at(last, "usage.total_tokens"), case_at(whole, "usage.total_tokens")));
        json_decref(events);
        json_decref(whole);
    }
}

static void translators_translate(void **state)
{
    (void)state;
    static const char *const lines[] = {"w5 w6 w7", "", "w9"};
    rapt_translation want[3];
    rapt_error err = {0};
    const rapt_translate_options o = {TRANSLATE_DEFAULTS, .compute.threads = 1, .tokens = true};
    char text[512];
    assert_int_equal(rapt_translate(rapt_engine_model_of(served_here.models[2].model), lines, 3, &o, want, &err), RAPT_OK);
    snprintf(text, sizeof text, "%s\n%s\n%s", want[0].hypotheses[0].text, want[1].hypotheses[0].text, want[2].hypotheses[0].text);
    exchange *x = case_ask(&served_here, openai_chat,
                           "{\"model\": \"en-fr\", \"temperature\": 0, \"seed\": 1, \"messages\": ["
                           "{\"role\": \"system\", \"content\": \"Translate.\"}, {\"role\": \"user\", \"content\": \"w1\"}, "
                           "{\"role\": \"assistant\", \"content\": \"x\"}, "
                           "{\"role\": \"user\", \"content\": \"w5 w6 w7\\n\\nw9\"}]}");
    json_t *chat = case_object(x, 200);
    assert_string_equal(case_text_at(chat, "choices.0.message.content"), text);
    assert_string_equal(case_text_at(chat, "choices.0.finish_reason"), "stop");
    assert_int_equal(json_integer_value(case_at(chat, "usage.prompt_tokens")), 4);
    assert_int_equal(json_integer_value(case_at(chat, "usage.completion_tokens")),
                     want[0].hypotheses[0].token_count + want[2].hypotheses[0].token_count);
    assert_string_equal(case_header(x, "X-Rapt-Replay"), "rapt translate en-fr <<< $'w5 w6 w7\\n\\nw9'");
    rapt_translations_free(want, 3);
    json_decref(chat);
    exchange_release(x);
}

/* Lines end with LF or CR LF, characters count, and what chat programs always send has no effect. */
static void translators_take_lines_and_options_as_elsewhere(void **state)
{
    (void)state;
    static const char plain[] = "{\"model\": \"en-fr\", \"messages\": [{\"role\": \"user\", \"content\": \"w1 w2\\nw3\"}]}";
    static const char dressed[] = "{\"model\": \"en-fr\", \"temperature\": 0.7, \"top_p\": 0.9, \"max_tokens\": 4096, "
                                  "\"max_completion_tokens\": 5, \"presence_penalty\": 1, \"frequency_penalty\": -1, \"n\": 1, "
                                  "\"seed\": 3, \"messages\": [{\"role\": \"user\", \"name\": \"Ada\", \"content\": "
                                  "\"w1 w2\\r\\nw3\"}]}";
    const size_t before = atomic_load(&double_characters);
    json_t *want = case_json(&served_here, openai_chat, plain, 200);
    assert_int_equal(atomic_load(&double_characters), before + 8);
    json_t *got = case_json(&served_here, openai_chat, dressed, 200);
    assert_true(json_equal(case_at(got, "choices"), case_at(want, "choices")));
    assert_true(json_equal(case_at(got, "usage"), case_at(want, "usage")));
    json_decref(want);
    json_decref(got);
}

/* n choices are the n best of a beam; a text ends before the first of the stop texts. */
static void translators_have_choices_and_stops(void **state)
{
    (void)state;
    static const char *const line[] = {"w5 w6 w7 w8"};
    static const char asked[] = "{\"model\": \"en-fr\", \"messages\": [{\"role\": \"user\", \"content\": \"w5 w6 w7 w8\"}], "
                                "\"n\": 2, \"stop\": %s%s}";
    const rapt_translate_options o = {TRANSLATE_DEFAULTS, .compute.threads = 1, .tokens = true, .beam = 2, .n_best = 2};
    rapt_translation want;
    rapt_error err = {0};
    char body[512], word[64], stop[160];
    assert_int_equal(rapt_translate(rapt_engine_model_of(served_here.models[2].model), line, 1, &o, &want, &err), RAPT_OK);
    snprintf(body, sizeof body, asked, "[]", "");
    json_t *got = case_json(&served_here, openai_chat, body, 200);
    assert_int_equal(json_array_size(case_at(got, "choices")), 2);
    assert_string_equal(case_text_at(got, "choices.0.message.content"), want.hypotheses[0].text);
    assert_string_equal(case_text_at(got, "choices.1.message.content"), want.hypotheses[1].text);
    assert_int_equal(json_integer_value(case_at(got, "usage.completion_tokens")),
                     want.hypotheses[0].token_count + want.hypotheses[1].token_count);
    json_decref(got);
    const char *second = strchr(want.hypotheses[0].text, ' '); /* the first word stays */
    assert_non_null(second);
    snprintf(word, sizeof word, "%.*s", (int)(second - want.hypotheses[0].text), want.hypotheses[0].text);
    snprintf(stop, sizeof stop, "[\"no such\", \" %.*s\"]", (int)strcspn(second + 1, " "), second + 1);
    snprintf(body, sizeof body, asked, stop, "");
    exchange *x = case_ask(&served_here, openai_chat, body);
    got = case_object(x, 200);
    assert_string_equal(case_text_at(got, "choices.0.message.content"), word);
    assert_string_equal(case_text_at(got, "choices.0.finish_reason"), "stop");
    assert_null(case_header(x, "X-Rapt-Replay"));
    exchange_release(x);
    json_decref(got);
    snprintf(body, sizeof body, asked, stop, ", \"stream\": true");
    json_t *events = chat_events(body);
    assert_int_equal(json_array_size(events), 6);
    assert_string_equal(case_text_at(json_array_get(events, 1), "choices.0.delta.content"), word);
    assert_int_equal(json_integer_value(case_at(json_array_get(events, 4), "choices.0.index")), 1);
    json_decref(events);
    rapt_translations_free(&want, 1);
}

/* The text of a response equals the text of a chat with the same messages, whole and in events. */
static void responses_are_chats(void **state)
{
    (void)state;
    static const char rest[] = "\"seed\": 3, \"temperature\": 1";
    static const char *const inputs[] = {
        "\"instructions\": \"Be.\", \"input\": \"hi\"",
        "\"input\": [{\"role\": \"developer\", \"content\": \"Be.\"}, {\"type\": \"message\", \"role\": \"user\", \"content\": "
        "[{\"type\": \"input_text\", \"text\": \"h\"}, {\"type\": \"input_text\", \"text\": \"i\"}]}], "
        "\"store\": false, \"tool_choice\": \"none\", \"parallel_tool_calls\": false"};
    char body[1024];
    snprintf(body, sizeof body, "{\"model\": \"chatty\", " MESSAGES ", %s, \"max_tokens\": 9}", rest);
    json_t *chat = case_json(&served_here, openai_chat, body, 200);
    const char *want = case_text_at(chat, "choices.0.message.content");
    for (size_t i = 0; i < 2; i++) {
        snprintf(body, sizeof body, "{\"model\": \"chatty\", %s, %s, \"max_output_tokens\": 9}", inputs[i], rest);
        json_t *got = case_json(&served_here, openai_responses, body, 200);
        assert_string_equal(case_text_at(got, "output.0.content.0.text"), want);
        assert_string_equal(case_text_at(got, "status"), "incomplete");
        assert_string_equal(case_text_at(got, "incomplete_details.reason"), "max_output_tokens");
        assert_int_equal(json_integer_value(case_at(got, "usage.input_tokens")), strlen(TEMPLATED));
        assert_int_equal(json_integer_value(case_at(got, "usage.output_tokens")), 9);
        assert_string_equal(case_text_at(got, "tool_choice"), i == 1 ? "none" : "auto");
        assert_int_equal(json_is_true(case_at(got, "parallel_tool_calls")), i == 0);
        json_decref(got);
    }
    snprintf(body, sizeof body, "{\"model\": \"chatty\", %s, %s, \"max_output_tokens\": 9, \"stream\": true}", inputs[0], rest);
    exchange *x = case_ask(&served_here, openai_responses, body);
    char *events = case_body(x), *at = events;
    static const char *const kinds[] = {"response.created", "response.in_progress", "response.output_item.added",
                                        "response.content_part.added", "response.output_text.delta",
                                        "response.output_text.done", "response.content_part.done", "response.output_item.done",
                                        "response.incomplete"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char line[80];
        snprintf(line, sizeof line, "event: %s\ndata: {", kinds[i]);
        assert_non_null(at = strstr(at, line));
    }
    assert_null(strstr(events, "[DONE]"));
    json_t *last = json_loadb(strchr(at, '{'), strlen(strchr(at, '{')) - 2, 0, NULL);
    assert_string_equal(case_text_at(last, "response.output.0.content.0.text"), want);
    json_decref(last);
    json_decref(chat);
    free(events);
    exchange_release(x);
}

/* ---- models ------------------------------------------------------------------------------------------------------------- */

static void models_are_listed(void **state)
{
    (void)state;
    exchange *x = get("/v1/models", openai_models);
    json_t *list = case_object(x, 200);
    assert_string_equal(case_text_at(list, "object"), "list");
    assert_int_equal(json_array_size(case_at(list, "data")), CASE_MODELS);
    assert_string_equal(case_text_at(list, "data.2.id"), "en-fr");
    assert_string_equal(case_text_at(list, "data.0.object"), "model");
    assert_string_equal(case_text_at(list, "data.0.owned_by"), "rapt");
    assert_int_equal(json_integer_value(case_at(list, "data.0.created")), 1700000000);
    json_decref(list);
    exchange_release(x);
    x = get("/v1/models/en-fr", openai_models);
    json_t *one = case_object(x, 200);
    assert_string_equal(case_text_at(one, "id"), "en-fr");
    json_decref(one);
    exchange_release(x);
    x = get("/v1/models/none", openai_models);
    json_t *none = case_object(x, 404);
    assert_string_equal(case_text_at(none, "error.code"), "model_not_found");
    json_decref(none);
    exchange_release(x);
}

/* The folder's tokenizer ends turns with another token than texts. */
static void the_end_of_a_turn_ends_a_reply(void **state)
{
    (void)state;
    static const char body[] = "{\"model\": \"chatty\", \"messages\": [{\"role\": \"user\", \"content\": \"a\"}], "
                               "\"max_tokens\": 4, \"logit_bias\": {\"120\": 100}}";
    rapt_language_model *l = &((rapt_model *)rapt_engine_model_of(served_here.models[1].model))->language;
    json_t *got = case_json(&served_here, openai_chat, body, 200);
    assert_string_equal(case_text_at(got, "choices.0.message.content"), "xxxx");
    json_decref(got);
    l->has_end_of_turn = true;
    l->end_of_turn = 'x';
    exchange *x = case_ask(&served_here, openai_chat, body);
    got = case_object(x, 200);
    assert_string_equal(case_text_at(got, "choices.0.message.content"), "");
    assert_string_equal(case_text_at(got, "choices.0.finish_reason"), "stop");
    assert_non_null(strstr(case_header(x, "X-Rapt-Replay"), "--stop"));
    exchange_release(x);
    json_decref(got);
    l->has_end_of_turn = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(replies_are_completions_of_the_template),
                                       cmocka_unit_test(what_asks_for_nothing_is_taken),
                                       cmocka_unit_test(replies_end_with_the_context),
                                       cmocka_unit_test(the_end_of_a_turn_ends_a_reply),
                                       cmocka_unit_test(chats_are_streamed),
                                       cmocka_unit_test(responses_are_chats),
                                       cmocka_unit_test(translators_translate),
                                       cmocka_unit_test(translators_take_lines_and_options_as_elsewhere),
                                       cmocka_unit_test(translators_have_choices_and_stops),
                                       cmocka_unit_test(models_are_listed)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
