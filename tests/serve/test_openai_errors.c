/* tests/serve/test_openai_errors.c: what OpenAI's endpoints refuse: by the name of the field, in the shape that clients read, and
 * without harm; and bodies that nobody meant.
 * labels: threads */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "folder.h"
#include "serve/openai_case.h"

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

typedef struct refused_case {
    const char *fields; /* beside those that a right request has */
    const char *param;  /* NULL: null */
    const char *says;
    int status;         /* 0: 400 */
    const char *code;
} refused_case;

/* A string, or null for NULL. */
static void assert_text(json_t *value, const char *want)
{
    const char *text = json_is_string(value) ? json_string_value(value) : NULL;
    if (want ? !text || strcmp(text, want) != 0 : !json_is_null(value))
        fail_msg("\"%s\", where \"%s\" is right", text ? text : "no text", want ? want : "null");
}

static void assert_refused(app_route_fn *route, const char *body, const refused_case *c)
{
    exchange *x = case_ask(&served_here, route, body);
    json_t *o = case_object(x, c->status ? c->status : 400);
    assert_int_equal(json_object_size(o), 1);
    assert_int_equal(json_object_size(case_at(o, "error")), 4);
    assert_string_equal(case_text_at(o, "error.type"), "invalid_request_error");
    assert_text(case_at(o, "error.param"), c->param);
    assert_text(case_at(o, "error.code"), c->code);
    if (!strstr(case_text_at(o, "error.message"), c->says))
        fail_msg("\"%s\" is not in it", c->says);
    json_decref(o);
    exchange_release(x);
}

static void assert_all_refused(app_route_fn *route, const char *right, const refused_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char body[512];
        snprintf(body, sizeof body, "{%s, %s}", right, cases[i].fields);
        assert_refused(route, body, &cases[i]);
    }
}

static void completions_refuse(void **state)
{
    (void)state;
    static const refused_case cases[] = {
        {"\"model\": \"gpt-4\"", "model", "the model \"gpt-4\" does not exist", 404, "model_not_found"},
        {"\"model\": 1", "model", "a string is expected"},
        {"\"model\": \"en-fr\"", "model", "translation model"},
        {"\"model\": \"encoder\"", "model", "/v1/embeddings"},
        {"\"max_tokens\": 0", "max_tokens", "echo"},
        {"\"max_tokens\": -1", "max_tokens", "between"},
        {"\"temperature\": 2.1", "temperature", "between 0 and 2"},
        {"\"temperature\": \"hot\"", "temperature", "a number is expected"},
        {"\"top_p\": 1.5", "top_p", "between 0 and 1"},
        {"\"typical_p\": -0.1", "typical_p", "between 0 and 1"},
        {"\"typical_p\": 1.01", "typical_p", "between 0 and 1"},
        {"\"top_k\": -2", "top_k", "between -1"},
        {"\"n\": 5", "n", "between 1 and 4"},
        {"\"n\": 0", "n", "between 1"},
        {"\"n\": 2, \"best_of\": 3", "best_of", "only the value of n"},
        {"\"logprobs\": 6", "logprobs", "between 0 and 5"},
        {"\"logprobs\": true", "logprobs", "an integer is expected"},
        {"\"stop\": [\"a\", \"b\", \"c\", \"d\", \"e\"]", "stop", "5 texts"},
        {"\"stop\": \"\"", "stop", "empty"},
        {"\"seed\": 1.5", "seed", "an integer is expected"},
        {"\"logit_bias\": {\"x\": 1}", "logit_bias", "not the id of a token"},
        {"\"logit_bias\": {\"257\": 1}", "logit_bias", "0 to 256"},
        {"\"logit_bias\": {\"1\": 101}", "logit_bias.1", "between -100 and 100"},
        {"\"logit_bias\": [1]", "logit_bias", "an object is expected"},
        {"\"presence_penalty\": 2.1", "presence_penalty", "between -2 and 2"},
        {"\"frequency_penalty\": -2.1", "frequency_penalty", "between -2 and 2"},
        {"\"suffix\": \"end\"", "suffix", "not supported"},
        {"\"stream_options\": {}", "stream_options", "stream"},
        {"\"stream\": true, \"stream_options\": {\"usage\": true}", "stream_options.usage", "not supported"},
        {"\"temprature\": 1", "temprature", "not supported"},
        {"\"tools\": []", "tools", "not supported"}};
    static const refused_case prompts[] = {
        {"\"prompt\": []", "prompt", "0 prompts"},
        {"\"prompt\": 5", "prompt", "a text or a list"},
        {"\"prompt\": [\"a\", 5]", "prompt[1]", "a text or a list"},
        {"\"prompt\": [[]]", "prompt[0]", "no tokens"},
        {"\"prompt\": [1, \"a\"]", "prompt", "something else at 1"},
        {"\"prompt\": [1, 1.5]", "prompt", "something else at 1"},
        {"\"prompt\": [257]", "prompt", "token 0 of the prompt is 257"},
        {"\"prompt\": [-1]", "prompt", "token 0"},
        {"\"prompt\": [1e3]", "prompt", "token 0 of the prompt is 1000"},
        {"\"prompt\": [1.5]", "prompt[0]", "a text or a list"},
        {"\"prompt\": [\"\", \"\", \"\", \"\", \"\", \"\", \"\"]", "prompt", "1 to 6"},
        {"\"prompt\": [\"a\", \"b\"], \"n\": 4", "n", "4 choices of 2 prompts, where a request may have 6 texts"},
        {"\"prompt\": \"01234567890123456789012345678901234567890\"", "prompt", "41 tokens", 0, "context_length_exceeded"},
        {"\"prompt\": [\"a\", \"01234567890123456789012345678901234567890\"]", "prompt[1]", "41", 0, "context_length_exceeded"}};
    assert_all_refused(openai_completions, "\"prompt\": \"abc\"", cases, sizeof cases / sizeof *cases);
    assert_all_refused(openai_completions, "\"max_tokens\": 1", prompts, sizeof prompts / sizeof *prompts);
    assert_refused(openai_completions, "{\"prompt\": \"a\"", &(refused_case){NULL, NULL, "not JSON"});
    assert_refused(openai_completions, "[]", &(refused_case){NULL, NULL, "a JSON object"});
}

/* Characters count, not bytes. */
static void stop_texts_are_not_long(void **state)
{
    (void)state;
    enum { MOST = 4096 };
    char stop[2 * MOST + 3] = "", body[sizeof stop + 100];
    for (int i = 0; i < MOST; i++)
        strcat(stop + 2 * i, "\xC3\xA9");
    snprintf(body, sizeof body, "{\"model\": \"bytes\", \"prompt\": \"abc\", \"max_tokens\": 1, \"stop\": \"%s\"}", stop);
    exchange *x = case_ask(&served_here, openai_completions, body);
    json_decref(case_object(x, 200));
    exchange_release(x);
    snprintf(body, sizeof body, "{\"prompt\": \"abc\", \"stop\": [\"a\", \"%sb\"]}", stop);
    assert_refused(openai_completions, body, &(refused_case){NULL, "stop", "at most 4096 characters"});
}

#define USER "{\"role\": \"user\", \"content\": \"hi\"}"

static void chats_refuse(void **state)
{
    (void)state;
    static const refused_case cases[] = {
        {"\"tools\": [{\"type\": \"function\"}]", "tools[0].function", "required"},
        {"\"tool_choice\": \"required\"", "tool_choice", "there are no \"tools\""},
        {"\"response_format\": {\"type\": \"xml\"}", "response_format.type", "text"},
        {"\"response_format\": {}", "response_format.type", "required"},
        {"\"response_format\": {\"type\": \"json_schema\"}", "response_format.json_schema", "required"},
        {"\"response_format\": {\"type\": \"json_schema\", \"json_schema\": {\"name\": \"a\"}}",
         "response_format.json_schema.schema", "required"},
        {"\"response_format\": {\"type\": \"json_object\", \"schema\": {}}", "response_format.schema", "not supported"},
        {"\"response_format\": {\"type\": \"json_schema\", \"json_schema\": {\"schema\": {\"properties\": {\"a\": {"
         "\"not\": {}}}}}}", "response_format", "schema, #/properties/a: \"not\" is not supported"},
        {"\"response_format\": {\"type\": \"json_schema\", \"json_schema\": {\"schema\": []}}", "response_format",
         "it is an object"},
        {"\"response_format\": {\"type\": \"json_object\"}, \"stop\": \"x\"", "stop", "not whole"},
        {"\"modalities\": [\"audio\"]", "modalities", "not supported"},
        {"\"reasoning_effort\": \"low\"", "reasoning_effort", "not supported"},
        {"\"store\": 1", "store", "a boolean is expected"},
        {"\"chat_template_kwargs\": {\"messages\": []}", "messages", "no variable that a chat template can be given"},
        {"\"chat_template_kwargs\": 1", "chat_template_kwargs", "an object is expected"},
        {"\"logprobs\": 1", "logprobs", "a boolean is expected"},
        {"\"top_logprobs\": 2", "top_logprobs", "logprobs"},
        {"\"logprobs\": true, \"top_logprobs\": 21", "top_logprobs", "between 0 and 20"},
        {"\"max_tokens\": 0", "max_tokens", "between 1"},
        {"\"max_tokens\": 2, \"max_completion_tokens\": 3", "max_tokens", "max_completion_tokens"},
        {"\"echo\": true", "echo", "not supported"}};
    static const refused_case messages[] = {
        {"\"stream\": false", "messages", "at least one message"},
        {"\"messages\": []", "messages", "at least one message"},
        {"\"messages\": [5]", "messages[0]", "an object is expected"},
        {"\"messages\": [" USER ", {\"role\": \"tool\", \"content\": \"x\"}]", "messages[1].tool_call_id", "required"},
        {"\"messages\": [{\"content\": \"x\"}]", "messages[0].role", "required"},
        {"\"messages\": [{\"role\": \"user\"}]", "messages[0].content", "required"},
        {"\"messages\": [{\"role\": \"user\", \"content\": 5}]", "messages[0].content", "a string is expected"},
        {"\"messages\": [{\"role\": \"user\", \"content\": []}]", "messages[0].content", "no parts"},
        {"\"messages\": [{\"role\": \"user\", \"content\": [{\"type\": \"image_url\", \"image_url\": {}}]}]",
         "messages[0].content[0].type", "image_url"},
        {"\"messages\": [{\"role\": \"user\", \"content\": [{\"type\": \"text\"}]}]", "messages[0].content[0].text", "required"},
        {"\"messages\": [{\"role\": \"user\", \"content\": \"x\", \"name\": 5}]", "messages[0].name", "a string is expected"},
        {"\"messages\": [{\"role\": \"assistant\", \"content\": \"x\", \"tool_calls\": [{}]}]",
         "messages[0].tool_calls[0].id", "required"},
        {"\"messages\": [{\"role\": \"user\", \"content\": \"01234567890123456789012345678901234567890\"}]", "messages",
         "the model's context", 0, "context_length_exceeded"}};
    static const refused_case translations[] = {
        {"\"temperature\": 2.5", "temperature", "between 0 and 2"},
        {"\"n\": 5", "n", "between 1 and 4"},
        {"\"max_tokens\": 0", "max_tokens", "between 1"},
        {"\"logprobs\": true", "logprobs", "not supported"},
        {"\"top_k\": 1", "top_k", "not supported"},
        {"\"stop\": \"\"", "stop", "empty"}};
    assert_all_refused(openai_chat, "\"model\": \"chatty\", \"messages\": [" USER "]", cases, sizeof cases / sizeof *cases);
    static const refused_case responses[] = {
        {"\"text\": {\"format\": {}}", "text.format.type", "required"},
        {"\"text\": {\"format\": {\"type\": \"json_schema\", \"name\": \"a\"}}", "text.format.schema", "required"},
        {"\"text\": {\"format\": {\"type\": \"json_schema\", \"name\": 1, \"schema\": {}}}", "text.format.name", "a string"},
        {"\"text\": {\"format\": {\"type\": \"json_schema\", \"schema\": {\"not\": {}}}}", "text.format",
         "text.format: schema, #: \"not\" is not supported"},
        {"\"text\": {\"format\": {\"type\": \"json_object\"}}, \"stop\": \"x\"", "stop", "beside text.format"},
        {"\"text\": {\"verbosity\": \"low\"}", "text.verbosity", "not supported"}};
    assert_all_refused(openai_responses, "\"model\": \"chatty\", \"input\": \"hi\"", responses,
                       sizeof responses / sizeof *responses);
    assert_all_refused(openai_chat, "\"model\": \"chatty\"", messages, sizeof messages / sizeof *messages);
    assert_all_refused(openai_chat, "\"model\": \"en-fr\", \"messages\": [" USER "]", translations,
                       sizeof translations / sizeof *translations);
    assert_refused(openai_chat, "{\"model\": \"bytes\", \"messages\": [" USER "]}",
                   &(refused_case){NULL, "model", "\"bytes\" has no chat template"});
    assert_refused(openai_chat, "{\"model\": \"en-fr\", \"messages\": [{\"role\": \"system\", \"content\": \"x\"}]}",
                   &(refused_case){NULL, "messages", "no message of the user"});
    assert_refused(openai_chat, "{\"model\": \"en-fr\", \"messages\": [{\"role\": \"user\", \"content\": "
                                "\"1\\n2\\n3\\n4\\n5\\n6\\n7\"}]}",
                   &(refused_case){NULL, NULL, "7 lines", 413});
}

static void embeddings_refuse(void **state)
{
    (void)state;
    static const refused_case cases[] = {
        {"\"dimensions\": 0", "dimensions", "0 is not between 1 and 12"},
        {"\"dimensions\": 13", "dimensions", "13 is not between 1 and 12"},
        {"\"dimensions\": -1", "dimensions", "between 1 and 12"},
        {"\"dimensions\": 1.5", "dimensions", "an integer is expected"},
        {"\"dimensions\": 1e300", "dimensions", "an integer is expected"},
        {"\"encoding_format\": \"hex\"", "encoding_format", "float or base64"},
        {"\"model\": \"bytes\"", "model", "language model"},
        {"\"input_type\": \"query\"", "input_type", "not supported"}};
    static const refused_case inputs[] = {
        {"\"user\": \"me\"", "input", "required"},
        {"\"input\": []", "input", "0 texts"},
        {"\"input\": {}", "input", "a string or a list of strings"},
        {"\"input\": [{}]", "input", "a list of strings"},
        {"\"input\": [null]", "input", "a list of strings"},
        {"\"input\": [1, \"a\"]", "input", "something else at 1"},
        {"\"input\": [1.5]", "input", "something else at 0"},
        {"\"input\": [[1], \"a\"]", "input[1]", "a list of token ids is expected"},
        {"\"input\": [[1], 1]", "input[1]", "a list of token ids is expected"},
        {"\"input\": [[1], []]", "input[1]", "no tokens"},
        {"\"input\": [[]]", "input[0]", "no tokens"},
        {"\"input\": [[[1]]]", "input[0]", "something else at 0"},
        {"\"input\": [[1],[1],[1],[1],[1],[1],[1]]", "input", "7 texts, where 1 to 6 are taken"},
        {"\"input\": [1, -1]", "input", "token 1 is -1, where ids are 0 to 2147483647"},
        {"\"input\": [[1], [9999]]", "input", "text 1: token 9999 is not in the model"},
        {"\"input\": [[1], [1e18]]", "input[1]", "token 0 is 1000000000000000000, where"},
        {"\"input\": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "input", "15 tokens, where the model takes 14", 0,
         "context_length_exceeded"},
        {"\"input\": [\"a\", 1]", "input", "a list of strings"},
        {"\"input\": \"cat cat cat cat cat cat cat cat cat cat cat cat cat cat cat cat\"", "input", "14 tokens", 0,
         "context_length_exceeded"}};
    assert_all_refused(openai_embeddings, "\"input\": \"cat\"", cases, sizeof cases / sizeof *cases);
    assert_all_refused(openai_embeddings, "\"model\": \"encoder\"", inputs, sizeof inputs / sizeof *inputs);
}

static void rankings_refuse(void **state)
{
    (void)state;
    static const refused_case cases[] = {
        {"\"model\": \"encoder\"", "model", "/v1/embeddings"},
        {"\"model\": \"none\"", "model", "does not exist", 404, "model_not_found"},
        {"\"top_n\": 0", "top_n", "0 is not between 1"},
        {"\"top_n\": -1", "top_n", "between 1"},
        {"\"top_n\": 1.5", "top_n", "an integer is expected"},
        {"\"return_documents\": 1", "return_documents", "a boolean is expected"},
        {"\"rank_fields\": [\"text\"]", "rank_fields", "not supported"},
        {"\"max_tokens_per_doc\": 10", "max_tokens_per_doc", "not supported"}};
    static const refused_case texts[] = {
        {"\"documents\": [\"a\"]", "query", "required"},
        {"\"query\": \"a\"", "documents", "a list of texts is expected"},
        {"\"query\": 1, \"documents\": [\"a\"]", "query", "a string is expected"},
        {"\"query\": [\"a\"], \"documents\": [\"a\"]", "query", "a string is expected"},
        {"\"query\": \"a\", \"documents\": \"a\"", "documents", "a list of texts is expected"},
        {"\"query\": \"a\", \"documents\": []", "documents", "0 texts"},
        {"\"query\": \"a\", \"documents\": [\"\",\"\",\"\",\"\",\"\",\"\",\"\"]", "documents", "7 texts, where 1 to 6"},
        {"\"query\": \"a\", \"documents\": [\"a\", 1]", "documents[1]", "a string, or an object"},
        {"\"query\": \"a\", \"documents\": [{}]", "documents[0]", "a string, or an object"},
        {"\"query\": \"a\", \"documents\": [{\"text\": 1}]", "documents[0]", "a string, or an object"},
        {"\"query\": \"a\", \"documents\": [{\"text\": \"a\", \"title\": \"b\"}]", "documents[0]", "no other member"},
        {"\"query\": \"a\", \"documents\": [null]", "documents[0]", "a string, or an object"},
        {"\"query\": \"a\", \"documents\": [\"a <pad>\"]", "documents", "padding"}};
    static const refused_case scores[] = {
        {"\"text_2\": \"a\"", "text_1", "required"},
        {"\"text_1\": \"a\"", "text_2", "required"},
        {"\"text_1\": [], \"text_2\": \"a\"", "text_1", "0 texts"},
        {"\"text_1\": \"a\", \"text_2\": [1]", "text_2", "a list of strings"},
        {"\"text_1\": [\"a\", \"b\"], \"text_2\": [\"c\"]", "text_2", "1 texts, where text_1 has 2"},
        {"\"text_1\": [\"a\", \"b\"], \"text_2\": [\"c\", \"d\", \"e\"]", "text_2", "3 texts, where text_1 has 2"},
        {"\"text_1\": \"a\", \"text_2\": \"b\", \"truncate_prompt_tokens\": 3", "truncate_prompt_tokens", "not supported"}};
    assert_all_refused(openai_rerank, "\"query\": \"cat\", \"documents\": [\"a\"]", cases, sizeof cases / sizeof *cases);
    assert_all_refused(openai_rerank, "\"user\": \"me\"", texts, sizeof texts / sizeof *texts);
    assert_all_refused(openai_score, "\"user\": \"me\"", scores, sizeof scores / sizeof *scores);
    static const refused_case inference[] = {
        {"\"texts\": \"a\"", "texts", "a list of texts is expected"},
        {"\"texts\": [1]", "texts", "a list of strings"},
        {"\"texts\": [\"a\"], \"documents\": [\"b\"]", "documents", "not supported"},
        {"\"texts\": [\"a\"], \"raw_scores\": 1", "raw_scores", "a boolean"},
        {"\"texts\": [\"a\"], \"truncation_direction\": \"left\"", "truncation_direction", "right or Right"},
        {"\"texts\": [\"a\", \"abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrstuvwxyz\"], \"truncate\": false", "texts",
         "text 1 and the query have more than the 36 tokens", 0, "context_length_exceeded"}};
    assert_all_refused(openai_any_rerank, "\"query\": \"cat\"", inference, sizeof inference / sizeof *inference);
    served_here.app.limits.body = 19; /* a query counts in each pair */
    assert_refused(openai_rerank, "{\"query\": \"cat\", \"documents\": [\"\", \"\", \"\", \"\"]}",
                   &(refused_case){NULL, "documents", "the pairs have more than 19 tokens together"});
    served_here.app.limits.body = 1 << 20;
}

/* What asks for nothing is taken. */
static void neutral_values_are_taken(void **state)
{
    (void)state;
    json_decref(case_json(&served_here, openai_completions,
                          "{\"model\": \"bytes\", \"prompt\": \"a\", \"max_tokens\": 1, \"n\": 1, \"best_of\": 1, "
                          "\"stop\": null, \"presence_penalty\": 0, \"frequency_penalty\": 0.0, \"suffix\": null, "
                          "\"user\": \"me\", \"logit_bias\": {}, "
                          "\"stream\": false, \"stream_options\": null, \"echo\": false, \"top_p\": 0, \"seed\": null}", 200));
    json_decref(case_json(&served_here, openai_chat,
                          "{\"model\": \"chatty\", \"messages\": [" USER ", {\"role\": \"assistant\", \"content\": \"x\", "
                          "\"refusal\": null, \"annotations\": [], \"audio\": null, \"function_call\": null, "
                          "\"tool_calls\": null}, " USER "], \"max_tokens\": 1, \"tools\": [], \"tool_choice\": \"auto\", "
                          "\"response_format\": {\"type\": \"text\"}, \"store\": false, \"metadata\": {\"a\": \"b\"}, "
                          "\"service_tier\": \"auto\", \"parallel_tool_calls\": true}", 200));
    json_decref(case_json(&served_here, openai_embeddings, "{\"input\": \"cat\", \"dimensions\": 12, \"user\": \"me\"}", 200));
}

/* Bytes of right bodies are changed: what comes is a response, and nothing but 200, 400 and 404. */
static void mutations_are_survived(void **state)
{
    (void)state;
    static const struct {
        app_route_fn *route;
        const char *body;
    } right[] = {
        {openai_completions, "{\"prompt\": [\"ab\", \"c\"], \"max_tokens\": 2, \"seed\": 1, \"logprobs\": 1, "
                             "\"stop\": [\"a\"], \"n\": 1, \"logit_bias\": {\"9\": 5}, \"echo\": true, "
                             "\"stream\": true, \"top_k\": 3}"},
        {openai_chat, "{\"model\": \"chatty\", \"messages\": [{\"role\": \"user\", \"content\": "
                      "[{\"type\": \"text\", \"text\": \"x\"}]}], \"max_tokens\": 2, \"logprobs\": true, "
                      "\"top_logprobs\": 2, \"seed\": 9}"},
        {openai_chat, "{\"model\": \"en-fr\", \"messages\": [{\"role\": \"user\", \"content\": \"w1 w2\"}], \"stream\": true}"},
        {openai_embeddings, "{\"model\": \"encoder\", \"input\": [\"cat\", \"sing\"], \"encoding_format\": \"base64\"}"},
        {openai_embeddings, "{\"model\": \"encoder\", \"input\": [[5, 6], [7]], \"dimensions\": 3}"},
        {openai_rerank, "{\"query\": \"cat\", \"documents\": [\"sing\", {\"text\": \"the\"}], \"top_n\": 1, "
                        "\"return_documents\": true}"},
        {openai_score, "{\"text_1\": [\"a\", \"b\"], \"text_2\": [\"c\", \"d\"]}"}};
    enum { RIGHT = sizeof right / sizeof *right };
    uint32_t random = 7;
    size_t taken = 0;
    for (size_t i = 0; i < 2000; i++) {
        char body[512];
        const size_t which = i % RIGHT, changes = i / RIGHT % 4;
        size_t size = strlen(right[which].body);
        memcpy(body, right[which].body, size);
        for (size_t change = 0; change < changes; change++) {
            static const char bytes[] = "09-.eE[]{}\",:ntf\\ux\xC3\xFF ";
            random = random * 1664525u + 1013904223u;
            body[(random >> 8) % size] = bytes[(random >> 24) % (sizeof bytes - 1)];
        }
        random = random * 1664525u + 1013904223u;
        size = random >> 28 ? size : (random >> 8) % size;
        exchange *x = case_request("POST", "/", "application/json", body, size);
        right[which].route(&served_here.app, x);
        case_wait(x);
        const int status = case_status(x);
        if (status != 200 && status != 400 && status != 404)
            fail_msg("status %d: %.*s", status, (int)size, body);
        taken += status == 200;
        exchange_release(x);
    }
    assert_true(taken > 500 && taken < 1600);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(completions_refuse), cmocka_unit_test(stop_texts_are_not_long),
                                       cmocka_unit_test(chats_refuse),
                                       cmocka_unit_test(embeddings_refuse),        cmocka_unit_test(rankings_refuse),
                                              cmocka_unit_test(neutral_values_are_taken),
                                       cmocka_unit_test(mutations_are_survived)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
