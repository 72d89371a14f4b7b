/* test_chat_golden.c: chat templates and the texts that jinja2 3.1.6 makes of them in the environment of transformers 5.23.0;
 * where jinja2 fails, so do they. The file is tests/text/chat/templates.json, made by tools/golden_chat.py. For
 * src/text/chat. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "text/chat/jinja.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOW 1721999109 /* of the script */

static json_t *variables_of(const json_t *root, const json_t *one)
{
    json_t *chat = json_object_get(json_object_get(root, "chats"), json_string_value(json_object_get(one, "messages")));
    json_t *all = json_pack("{s:O, s:n, s:n, s:b, s:s, s:s}", "messages", chat, "tools", "documents", "add_generation_prompt", 1,
                            "bos_token", "<s>", "eos_token", "</s>");
    const json_t *more = json_object_get(one, "more");
    assert_non_null(all);
    if (more)
        json_object_update(all, (json_t *)more);
    return all;
}

static void check_case(const json_t *root, const json_t *template, const json_t *one)
{
    rapt_error err = {0};
    char *text = NULL;
    size_t size = 0;
    const json_t *want = json_object_get(one, "text");
    json_t *all = variables_of(root, one);
    jinja_template *t = jinja_template_new("t", json_string_value(template), json_string_length(template), &err);
    if (t)
        jinja_template_render(t, all, &(jinja_bounds){.now = NOW}, &text, &size, &err);
    bool same = want ? text && size == json_string_length(want) && memcmp(text, json_string_value(want), size) == 0 && !err.code
                     : !text && err.code == RAPT_ERR_FORMAT && strncmp(err.message, "t:", 2) == 0;
    if (!same)
        fail_msg("%s\nwith %s gives\n%s\nnot\n%s", json_string_value(template),
                 json_string_value(json_object_get(one, "messages")),
                 text ? text : err.message, want ? json_string_value(want) : "an error");
    free(text);
    jinja_template_free(t);
    json_decref(all);
}

static void templates_give_the_texts_of_jinja(void **state)
{
    (void)state;
    json_error_t where;
    json_t *root = json_load_file(RAPT_SOURCE_DIR "/tests/text/chat/templates.json", JSON_ALLOW_NUL, &where);
    const json_t *groups = json_object_get(root, "groups");
    size_t cases = 0;
    setenv("TZ", "UTC", 1);
    tzset();
    for (size_t i = 0; i < json_array_size(groups); i++) {
        const json_t *group = json_array_get(groups, i), *list = json_object_get(group, "cases");
        for (size_t j = 0; j < json_array_size(list); j++, cases++)
            check_case(root, json_object_get(group, "template"), json_array_get(list, j));
    }
    assert_true(cases > 390);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(templates_give_the_texts_of_jinja)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
