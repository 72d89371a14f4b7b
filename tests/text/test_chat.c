/* test_chat.c: chat templates: what is refused, by name; limits that end any template; folders; ids of conversations.
 * For rapt/chat.h and src/text/chat. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "options.h"
#include "rapt/chat.h"
#include "text/chat/jinja.h"
#include "text/tokenizer_files.h"

/* ---- refused ---------------------------------------------------------------------------------------------------- */

/* The first words of the failure, of reading or of running; "" where there is none. */
static void template_fails(const char *template, const char *message)
{
    rapt_error err = {0};
    char *text = NULL;
    size_t size;
    json_t *none = json_object();
    jinja_template *t = jinja_template_new("chat.jinja", template, strlen(template), &err);
    if (t)
        jinja_template_render(t, none, NULL, &text, &size, &err);
    if (text || err.code != RAPT_ERR_FORMAT || strchr(err.message, '\n') || !strstr(err.message, message))
        fail_msg("%.200s: \"%s\" has no \"%s\"", template, text ? text : err.message, message);
    jinja_template_free(t);
    json_decref(none);
}

static void what_is_not_implemented_is_named(void **state)
{
    (void)state;
    template_fails("a\nb {{ x | groupby('y') }}", "chat.jinja:2: the filter \"groupby\" is not implemented");
    template_fails("{{ 'a' | escape }}", "the filter \"escape\"");
    template_fails("{{ 1 is sameas 2 }}", "the test \"sameas\"");
    template_fails("{% include 'x' %}", "the tag \"include\"");
    template_fails("{% call f() %}{% endcall %}", "the tag \"call\"");
    template_fails("{% raw %}x{% endraw %}", "the tag \"raw\"");
    template_fails("{% set x | upper %}a{% endset %}", "a set block with a filter");
    template_fails("{% for x in y recursive %}{% endfor %}", "a recursive loop");
    template_fails("{{ cycler('a') }}", "the name \"cycler\"");
    template_fails("{{ 'a'.zfill(3) }}", "str.zfill is not implemented");
    template_fails("{{ {}.update({}) }}", "dict.update is not implemented");
    template_fails("{{ [].append(1) }}", "list.append is not implemented");
    template_fails("{{ 1 .real }}", "int.real is not implemented");
    template_fails("{{ ''.__class__ }}", "attributes that begin with _");
    template_fails("{{ ''['__class__'] }}", "attributes that begin with _");
    template_fails("{{ '%s' % 1 }}", "formatting a str with %");
    template_fails("{{ 2 ** 3 }}", "the operator **");
    template_fails("{{ f(*x) }}", "arguments with * or **");
    template_fails("{{ 0x10 }}", "a number of this form");
    template_fails("{{ 9223372036854775807 + 1 }}", "does not fit into 64 bits");
    template_fails("{{ 9223372036854775808 }}", "does not fit into 64 bits");
    template_fails("{{ 9007199254740993 * 0.5 }}", "too large to be computed with a float");
    template_fails("{{ [1] | map('string') }}", "printing a generator is not implemented");
    template_fails("{{ {}.items() }}", "printing a dict view is not implemented");
    template_fails("{{ namespace(a=1) }}", "printing a value of type Namespace");
    template_fails("{% for i in [1] %}{{ loop }}{% endfor %}", "printing a value of type LoopContext");
    template_fails("{{ 'stra\xc3\x9f""e' | upper }}", "the other case of U+00DF");
    template_fails("{{ ('<' | safe) * 2 }}", "the filter safe");
    template_fails("{{ strftime_now('%c') }}", "%c is not implemented");
    template_fails("{{ '\\N{DASH}' }}", "the escape \\N");
    template_fails("\xff", "chat.jinja: not UTF-8 at byte 1");
    template_fails("{{ raise_exception('bad\nwords') }}", "chat.jinja:1: the template refuses the messages: bad");
    template_fails("\n\n{% if x %}\n{{ y.z }}{% else %}{{ y.z }}{% endif %}",
                   "chat.jinja:4: 'y' is undefined, and so has no 'z'");
}

/* ---- large objects ---------------------------------------------------------------------------------------------- */

static void template_gives(const char *template, json_t *variables, const char *want)
{
    rapt_error err = {0};
    char *text = NULL;
    size_t size;
    jinja_template *t = jinja_template_new("chat.jinja", template, strlen(template), &err);
    if (!t || jinja_template_render(t, variables, NULL, &text, &size, &err) != RAPT_OK)
        fail_msg("%s", err.message);
    assert_string_equal(text, want);
    free(text);
    jinja_template_free(t);
    json_decref(variables);
}

/* {"d": {"k999": 999, ...}}: `count` keys from the last one down. */
static json_t *keys_down_from(int last, int count)
{
    json_t *d = json_object();
    char key[16];
    for (int i = last; i > last - count; i--) {
        snprintf(key, sizeof key, "k%d", i);
        assert_int_equal(json_object_set_new(d, key, json_integer(i)), 0);
    }
    return json_pack("{s:o}", "d", d);
}

/* As Python has it, whatever the size. */
static void objects_may_be_large(void **state)
{
    (void)state;
    char sorted[1000] = "{";
    template_gives("{{ d.k0 }} {{ d['k999'] }} {{ 'k500' in d }} {{ 'k1000' in d }} {{ 5 in d }} {{ d | length }} "
                   "{% set e = dict(d, k7='new', k1000=1) %}{{ e.k7 }} {{ e.k8 }} {{ e | length }} {{ d.k7 }} {{ d == dict(d) }} "
                   "{{ d == e }} {{ (d.keys() | list)[1] }} {{ (e.keys() | list)[-1] }} {{ d['x'] is defined }}",
                   keys_down_from(999, 1000), "0 999 True False False 1000 new 8 1001 7 True False k998 k1000 False");
    for (int i = 53; i < 100; i++)
        snprintf(sorted + strlen(sorted), sizeof sorted - strlen(sorted), "\"k%d\": %d%s", i, i, i < 99 ? ", " : "}");
    template_gives("{{ d | tojson(sort_keys=true) }}", keys_down_from(99, 47), sorted);
}

/* ---- limits ----------------------------------------------------------------------------------------------------- */

static void every_template_ends(void **state)
{
    (void)state;
    template_fails("{% set l = range(100000) | list %}{% for a in l %}{{ 'x' in l }}{% endfor %}", "steps");
    template_fails("{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}", "more than");
    template_fails("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "nests deeper than");
    template_fails("{% set ns = namespace(x='aaaaaaaaaaaa') %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
                   "more than 64 MB");
    template_fails("{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
                   "more than");
    template_fails("{% for i in range(100000) %}{{ 'a' * 10000 }}{% endfor %}", "more than");
    template_fails("{{ 'a' * 100000000 }}", "more than 64 MB");
    template_fails("{{ [1] * 1000000000 }}", "too many items");
    template_fails("{{ ('a' * 1000000).replace('a', 'b' * 1000) }}", "more than 64 MB");
    template_fails("{% set ns = namespace(x=[]) %}{% for i in range(5000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}",
                   "nests deeper than");
    template_fails("{% set ns = namespace() %}{% set ns.x = ns %}{{ ns | tojson }}", "printing a value of type Namespace");
}

static bool stops_at_third(void *context)
{
    return ++*(int *)context == 3;
}

/* One that runs long ends when its caller says so, or at the caller's limit of memory. */
static void callers_bound_templates(void **state)
{
    static const char long_one[] = "{% set l = range(100000) | list %}{% for a in l %}{{ 'x' in l }}{% endfor %}";
    (void)state;
    int asked = 0;
    rapt_error err = {0};
    char *text;
    size_t size;
    json_t *none = json_object();
    jinja_template *t = jinja_template_new("chat.jinja", long_one, strlen(long_one), &err);
    assert_non_null(t);
    const jinja_bounds stop = {.stop = stops_at_third, .context = &asked}, memory = {.memory = 2 << 20};
    assert_int_equal(jinja_template_render(t, none, &stop, &text, &size, &err), RAPT_ERR_INTERRUPTED);
    assert_int_equal(asked, 3);
    err = (rapt_error){0};
    assert_int_equal(jinja_template_render(t, none, &memory, &text, &size, &err), RAPT_ERR_FORMAT);
    assert_non_null(strstr(err.message, "takes more than 2 MB of memory"));
    jinja_template_free(t);
    json_decref(none);
}

/* A template of one text before, a part that is repeated, and one text behind. */
static void repeated_fails(const char *before, const char *part, size_t times, const char *after, const char *message)
{
    size_t length = strlen(part);
    char *template = malloc(strlen(before) + times * length + strlen(after) + 1), *to = stpcpy(template, before);
    for (size_t i = 0; i < times; i++)
        to = stpcpy(to, part);
    strcpy(to, after);
    template_fails(template, message);
    free(template);
}

static void nesting_has_a_limit(void **state)
{
    (void)state;
    repeated_fails("{{ ", "(", 100000, "", "nests deeper than");
    repeated_fails("{{ ", "not ", 100000, "1 }}", "nests deeper than");
    repeated_fails("{{ ", "- ", 100000, "1 }}", "nests deeper than");
    repeated_fails("{{ 1", " + 1", 100000, " }}", "nests deeper than");
    repeated_fails("{{ x", " | trim", 100000, " }}", "nests deeper than");
    repeated_fails("{{ 1", " if 1 else 1", 10000, " }}", "nests deeper than");
    repeated_fails("", "{% if 1 %}", 10000, "", "nests deeper than");
    repeated_fails("", "a", (1 << 20) + 1, "", "at most 1048576");
}

/* ---- folders ---------------------------------------------------------------------------------------------------- */

static void put_file(const char *name, const char *text)
{
    write_file(name, text, strlen(text));
}

static void folder_gives(const rapt_chat_options *o, const char *want)
{
    static const rapt_chat_message messages[] = {{"system", "Be brief."}, {"user", "{{ x }} <s>"}};
    rapt_error err = {0};
    char *text = NULL;
    size_t size = 0;
    rapt_chat_template *chat = rapt_chat_template_load(folder_path, &err);
    if (!chat || rapt_chat_apply(chat, messages, 2, o, &text, &size, &err))
        fail_msg("%s", err.message);
    assert_string_equal(text, want);
    assert_int_equal(size, strlen(want));
    free(text);
    rapt_chat_template_free(chat);
}

/* A zeroed struct has no size; a template that may take 0 bytes makes nothing. */
static void options_are_refused(const rapt_chat_options *o, const char *message)
{
    static const rapt_chat_message one = {"user", "a"};
    rapt_error err = {0};
    char *text;
    size_t size;
    rapt_chat_template *chat = rapt_chat_template_load(folder_path, NULL);
    assert_int_equal(rapt_chat_apply(chat, &one, 1, o, &text, &size, &err), RAPT_ERR_VALUE);
    assert_string_equal(err.message, message);
    assert_null(text);
    rapt_chat_template_free(chat);
}

static void folder_refused(rapt_code code, const char *message)
{
    rapt_error err = {0};
    assert_null(rapt_chat_template_load(folder_path, &err));
    if (err.code != code || !strstr(err.message, message))
        fail_msg("%d: \"%s\" has no \"%s\"", err.code, err.message, message);
}

static void folders_have_templates(void **state)
{
    (void)state;
    folder_refused(RAPT_ERR_NOT_FOUND, "no chat template: neither chat_template.jinja nor");
    put_file("tokenizer_config.json", "{\"bos_token\": \"<s>\"}");
    folder_refused(RAPT_ERR_NOT_FOUND, "no chat template");
    put_file("tokenizer_config.json", "{\"bos_token\": {\"content\": \"<s>\"}, \"eos_token\": null, \"chat_template\": "
                                      "\"{{ bos_token }}{{ eos_token }}{{ messages[1].content }}{{ add_generation_prompt }}\"}");
    folder_gives(NULL, "<s>{{ x }} <s>True");
    folder_gives(&CHAT(.generation_prompt = false), "<s>{{ x }} <s>False");
    folder_gives(&CHAT(.variables = "{\"eos_token\": 1}"), "<s>1{{ x }} <s>True");
    options_are_refused(&(rapt_chat_options){.generation_prompt = true},
                        "options without a size: make them with rapt_chat_options_default()");
    options_are_refused(&CHAT(.memory = 0), "memory is 0: a chat template takes more");
    put_file("special_tokens_map.json", "{\"eos_token\": \"</s>\"}");
    folder_gives(NULL, "<s></s>{{ x }} <s>True");
    put_file("tokenizer_config.json", "{\"added_tokens_decoder\": {}, \"chat_template\": "
                                      "[{\"name\": \"tool_use\", \"template\": \"no\"},"
                                      "{\"name\": \"default\", \"template\": \"yes{{ eos_token }}\"}]}");
    folder_gives(NULL, "yes");
    put_file("tokenizer_config.json", "{\"chat_template\": [{\"name\": \"tool_use\", \"template\": \"no\"}]}");
    folder_refused(RAPT_ERR_FORMAT, "/tokenizer_config.json: \"chat_template\" is neither a text nor a list with");
    put_file("tokenizer_config.json", "{\"chat_template\": 5}");
    folder_refused(RAPT_ERR_FORMAT, "\"chat_template\" is neither a text nor a list with a template called \"default\"");
    put_file("tokenizer_config.json", "{\"chat_template\": null}");
    folder_refused(RAPT_ERR_NOT_FOUND, "no chat template");
    put_file("tokenizer_config.json", "{\"image_token\": \"<i>\", \"add_bos_token\": true, \"extra_special_tokens\": {\"boi\": "
                                      "\"<b>\"}, \"chat_template\": \"{{ image_token }}{{ boi }}{{ add_bos_token }}\"}");
    folder_gives(NULL, "<i><b>");
    put_file("chat_template.jinja", "{{ messages[0].role }}\n");
    folder_gives(NULL, "system");
    put_file("chat_template.jinja", "\n{{ messages[0].role");
    folder_refused(RAPT_ERR_FORMAT, "chat_template.jinja:2: a tag is not closed");
    put_file("chat_template.jinja", "{{ bos_token }}");
    put_file("tokenizer_config.json", "{\"tokenizer_class\": \"LlamaTokenizer\"}");
    folder_refused(RAPT_ERR_FORMAT, "tokenizer_config.json: the chat template uses \"bos_token\", which is not there");
    put_file("tokenizer_config.json", "[]");
    folder_refused(RAPT_ERR_FORMAT, "tokenizer_config.json: not a JSON object");
}

static void what_is_given_is_checked(void **state)
{
    (void)state;
    char *text;
    size_t size;
    const rapt_chat_message good = {"user", "x"}, bad = {"user", "\xff"};
    put_file("chat_template.jinja", "{{ messages[0].content }}{{ extra }}");
    remove(folder_in("tokenizer_config.json"));
    rapt_chat_template *chat = rapt_chat_template_load(folder_path, NULL);
    assert_non_null(chat);
    assert_int_equal(rapt_chat_apply(chat, &good, 0, NULL, &text, &size, NULL), RAPT_ERR_VALUE);
    assert_int_equal(rapt_chat_apply(chat, &bad, 1, NULL, &text, &size, NULL), RAPT_ERR_FORMAT);
    for (size_t i = 0; i < 3; i++) {
        const rapt_chat_options o = CHAT(.variables = (const char *[]){"[1]", "{", "{\"tools\": []}"}[i]);
        assert_int_equal(rapt_chat_apply(chat, &good, 1, &o, &text, &size, NULL), RAPT_ERR_VALUE);
        assert_null(text);
    }
    const rapt_chat_options o = CHAT(.variables = "{\"extra\": [1]}");
    assert_int_equal(rapt_chat_apply(chat, &good, 1, &o, &text, &size, NULL), RAPT_OK);
    assert_string_equal(text, "x[1]");
    free(text);
    rapt_chat_template_free(chat);
    rapt_chat_template_free(NULL);
}

/* ---- ids -------------------------------------------------------------------------------------------------------- */

static void check_ids(const char *json, const char *text, const int32_t *want, size_t want_count)
{
    int32_t *ids;
    size_t count;
    rapt_tokenizer *k = load(write_file("tokenizer.json", json, strlen(json)));
    assert_int_equal(rapt_chat_encode(k, text, strlen(text), &ids, &count, NULL), RAPT_OK);
    assert_int_equal(count, want_count);
    assert_memory_equal(ids, want, want_count * sizeof *want);
    free(ids);
    rapt_tokenizer_free(k);
}

/* A tokenizer that puts <s> before and </s> after a text: only the template puts them into a conversation. */
static void ids_are_those_of_the_text(void **state)
{
    (void)state;
    static const char words[] =
        "{\"added_tokens\": [{\"id\": 0, \"content\": \"<s>\", \"special\": true},"
        "{\"id\": 1, \"content\": \"</s>\", \"special\": true}],"
        "\"pre_tokenizer\": {\"type\": \"WhitespaceSplit\"}, \"post_processor\": {\"type\": \"TemplateProcessing\","
        "\"single\": [{\"SpecialToken\": {\"id\": \"<s>\", \"type_id\": 0}}, {\"Sequence\": {\"id\": \"A\", \"type_id\": 0}},"
        "{\"SpecialToken\": {\"id\": \"</s>\", \"type_id\": 0}}], \"pair\": [],"
        "\"special_tokens\": {\"<s>\": {\"id\": \"<s>\", \"ids\": [0], \"tokens\": [\"<s>\"]},"
        "\"</s>\": {\"id\": \"</s>\", \"ids\": [1], \"tokens\": [\"</s>\"]}}},"
        "\"model\": {\"type\": \"WordLevel\", \"vocab\": {\"<s>\": 0, \"</s>\": 1, \"a\": 2, \"b\": 3}, \"unk_token\": \"a\"}}";
    check_ids(words, "<s>a b</s>b", IDS(0, 2, 3, 1, 3));
    check_ids(words, "", NULL, 0);
    int32_t *ids;
    size_t count;
    rapt_error err = {0};
    rapt_tokenizer *letters = rapt_tokenizer_train_characters("ab", 2, NULL);
    assert_int_equal(rapt_chat_encode(letters, "a", 1, &ids, &count, &err), RAPT_ERR_VALUE);
    assert_non_null(strstr(err.message, "tokenizer.json"));
    rapt_tokenizer_free(letters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_implemented_is_named), cmocka_unit_test(every_template_ends),
        cmocka_unit_test(objects_may_be_large),             cmocka_unit_test(callers_bound_templates),
        cmocka_unit_test(nesting_has_a_limit),              cmocka_unit_test(folders_have_templates),
        cmocka_unit_test(what_is_given_is_checked),         cmocka_unit_test(ids_are_those_of_the_text),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
