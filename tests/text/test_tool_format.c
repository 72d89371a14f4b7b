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

static tool_format format_of(const char *template)
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(families_are_found), cmocka_unit_test(others_are_unknown)};
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
