/* tests/text/test_tool_format.c: the families of templates that take tools, found from the templates in
 * tests/text/chat/templates.json, and others that take none, or write calls in another way. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "folder.h"

#include "text/chat/tool_format.h"

#include <jansson.h>

static rapt_chat_template *template_of(const char *template)
{
    char path[512];
    rapt_error err = {0};
    snprintf(path, sizeof path, "%s/chat_template.jinja", folder_path);
    FILE *f = fopen(path, "w");
    assert_true(f && fputs(template, f) >= 0 && fclose(f) == 0);
    snprintf(path, sizeof path, "%s/tokenizer_config.json", folder_path);
    f = fopen(path, "w");
    assert_true(f && fputs("{\"bos_token\": \"<s>\", \"eos_token\": \"</s>\"}", f) >= 0 && fclose(f) == 0);
    rapt_chat_template *chat = rapt_chat_template_load(folder_path, &err);
    if (!chat)
        fail_msg("%s", err.message);
    return chat;
}

static tool_format format_of(const char *template)
{
    rapt_chat_template *chat = template_of(template);
    const tool_format found = tool_format_find(chat);
    rapt_chat_template_free(chat);
    return found;
}

static void families_are_found(void **state)
{
    (void)state;
    static const struct { const char *name; tool_family family; const char *opening; } want[] = {
        {"hermes", TOOLS_HERMES, "<tool_call>\n"}, {"llama", TOOLS_LLAMA, ""}, {"mistral", TOOLS_MISTRAL, "[TOOL_CALLS]"},
        {"args", TOOLS_MISTRAL_ARGS, "[TOOL_CALLS]"}};
    json_t *root = json_load_file(RAPT_SOURCE_DIR "/tests/text/chat/templates.json", JSON_ALLOW_NUL, NULL), *group;
    size_t i, found = 0;
    json_array_foreach(json_object_get(root, "groups"), i, group)
        for (size_t k = 0; k < 4 && json_object_get(group, "family"); k++)
            if (strcmp(json_string_value(json_object_get(group, "family")), want[k].name) == 0) {
                const tool_format f = format_of(json_string_value(json_object_get(group, "template")));
                assert_int_equal(f.family, want[k].family);
                assert_true(f.takes_tools);
                assert_string_equal(f.opening, want[k].opening);
                found++;
            }
    assert_int_equal(found, 4);
    json_decref(root);
}

static void others_are_unknown(void **state)
{
    (void)state;
    static const struct { const char *template; bool takes; } others[] = {
        {"{% for m in messages %}{{ m.content }}{% endfor %}", false},
        {"{{ raise_exception('no') }}", false},
        {"{% for m in messages %}{{ m.content }}{% for c in m.tool_calls %}<tool_call>{\"name\": \"{{ c.function.name }}\", "
         "\"arguments\": {{ c.function.arguments | tojson }}}</tool_call>{% endfor %}{% endfor %}", false}, /* without tools */
        {"{{ tools }}{% for m in messages %}{% for c in m.tool_calls %}<tool_call>\n<function={{ c.function.name }}>"
         "{% endfor %}{% endfor %}", true},
        {"{{ tools }}{% for m in messages %}{% for c in m.tool_calls %}<tool_call>{{ c.function | tojson }}{% endfor %}"
         "{% if m.role == 'tool' %}{{ raise_exception('no results') }}{% endif %}{% endfor %}", true},
        {"{{ tools }}<tool_call>{{ '{\"name\": ' }}", true}, {"{% for i in range(99999) %}{% for j in range(99999) %}"
         "{% endfor %}{% endfor %}{{ tools }}", false}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const tool_format f = format_of(others[i].template);
        assert_int_equal(f.family, TOOLS_UNKNOWN);
        assert_int_equal(f.takes_tools, others[i].takes);
    }
}

/* ---- the library's functions -------------------------------------------------------------------------------------------- */

/* A case's messages as a client sends them, with arguments as texts if `sent`. To be freed. */
static char *messages_of(const json_t *root, const json_t *one, bool sent)
{
    const char *name = json_string_value(json_object_get(one, "messages"));
    json_t *all = json_deep_copy(json_object_get(json_object_get(root, "chats"), name)), *message, *call;
    size_t i, k;
    json_array_foreach(all, i, message)
        json_array_foreach(json_object_get(message, "tool_calls"), k, call) {
            json_t *function = json_object_get(call, "function");
            char *text = json_dumps(json_object_get(function, "arguments"), 0);
            if (sent)
                json_object_set_new(function, "arguments", json_string(text));
            free(text);
        }
    char *text = json_dumps(all, 0);
    json_decref(all);
    return text;
}

static void check_text(const rapt_chat_template *chat, const json_t *root, const json_t *one, bool sent)
{
    rapt_error err = {0};
    rapt_chat_options o = rapt_chat_options_default();
    const json_t *list = json_object_get(json_object_get(one, "more"), "tools"), *want = json_object_get(one, "text");
    char *tools = json_is_array(list) ? json_dumps(list, 0) : NULL, *messages = messages_of(root, one, sent), *text;
    size_t size;
    o.tools = tools;
    const rapt_code code = rapt_chat_apply_json(chat, messages, strlen(messages), &o, &text, &size, &err);
    if (!want) {
        assert_int_equal(code, RAPT_ERR_FORMAT);
        assert_null(text);
    } else if (code || size != json_string_length(want) || memcmp(text, json_string_value(want), size) != 0) {
        fail_msg("%s gives\n%s\nnot\n%s", messages, text ? text : err.message, json_string_value(want));
    }
    free(text);
    free(tools);
    free(messages);
}

static void conversations_are_those_of_transformers(void **state)
{
    (void)state;
    json_t *root = json_load_file(RAPT_SOURCE_DIR "/tests/text/chat/templates.json", JSON_ALLOW_NUL, NULL), *group, *one;
    size_t i, k, cases = 0;
    json_array_foreach(json_object_get(root, "groups"), i, group) {
        if (!json_object_get(group, "family"))
            continue;
        rapt_chat_template *chat = template_of(json_string_value(json_object_get(group, "template")));
        json_array_foreach(json_object_get(group, "cases"), k, one) {
            check_text(chat, root, one, false);
            check_text(chat, root, one, true);
            cases++;
        }
        rapt_chat_template_free(chat);
    }
    assert_true(cases >= 48);
    json_decref(root);
}

#define HERMES_LIKE "{{ tools }}{% for m in messages %}{{ m.content }}{% for c in m.tool_calls %}<tool_call>" \
    "{{ c.function | tojson }}</tool_call>{% endfor %}{% endfor %}"
#define ADD "[{\"type\": \"function\", \"function\": {\"name\": \"add\"}}]"

static void replies_are_read(void **state)
{
    (void)state;
    static const struct { const char *reply, *want; } cases[] = {
        {"Hi. ", "{\"content\": \"Hi. \", \"tool_calls\": []}"}, {"", "{\"content\": null, \"tool_calls\": []}"},
        {"So: <tool_call>{\"name\": \"add\", \"arguments\": {\"a\": 1.0}}</tool_call><tool_call>{\"name\": \"add\", "
         "\"arguments\": {}}", "{\"content\": \"So:\", \"tool_calls\": [{\"name\": \"add\", \"arguments\": "
         "\"{\\\"a\\\": 1.0}\"}, {\"name\": \"add\", \"arguments\": \"{}\"}]}"},
        {"<tool_call>{\"name\": \"sub\", \"arguments\": {}}", "{\"content\": \"<tool_call>{\\\"name\\\": \\\"sub\\\", "
         "\\\"arguments\\\": {}}\", \"tool_calls\": []}"}};
    char *json;
    rapt_error err = {0};
    rapt_chat_template *chat = template_of(HERMES_LIKE);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(rapt_chat_calls(chat, ADD, cases[i].reply, strlen(cases[i].reply), &json, &err), RAPT_OK);
        assert_string_equal(json, cases[i].want);
        free(json);
    }
    assert_int_equal(rapt_chat_calls(chat, "{}", "x", 1, &json, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "tools are not a JSON list: another value");
    rapt_chat_template_free(chat);
    chat = template_of("{{ messages[0].content }}");
    err = (rapt_error){0};
    assert_int_equal(rapt_chat_calls(chat, ADD, "x", 1, &json, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, "the chat template takes no tools");
    char *text;
    size_t size;
    static const char *const wrong[] = {"[]", "{}", "[", "[5]"};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(rapt_chat_apply_json(chat, wrong[i], strlen(wrong[i]), NULL, &text, &size, NULL), RAPT_ERR_VALUE);
    rapt_chat_options o = rapt_chat_options_default();
    o.tools = "5";
    assert_int_equal(rapt_chat_apply_json(chat, "[{}]", 4, &o, &text, &size, NULL), RAPT_ERR_VALUE);
    rapt_chat_template_free(chat);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(families_are_found), cmocka_unit_test(others_are_unknown),
                                       cmocka_unit_test(conversations_are_those_of_transformers),
                                       cmocka_unit_test(replies_are_read)};
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
