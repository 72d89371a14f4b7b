/* test_chat_no_memory.c: every allocation of reading a chat template, of giving it messages and of encoding the text is made
 * to fail in turn: the failure is reported as what it is, and nothing is left. For src/text/chat. Linked as tests/failing.h
 * says. */
#define _GNU_SOURCE
#include "failing.h"

#include "options.h"
#include "rapt/chat.h"
#include "text/tokenizer_files.h"

static const char TEMPLATE[] =
    "{%- macro turn(m, end='</s>') -%}{{ m.role ~ ':' ~ m.content | trim | replace('a', 'b') ~ end }}{%- endmacro -%}\n"
    "{%- set ns = namespace(all='') -%}{% for m in messages[::-1] if m.role in ['user', 'system'] %}"
    "{% set ns.all = ns.all + turn(m) + (m | tojson(indent=2)) + m.content.split()[0] | upper %}{% endfor %}"
    "{% set x %}{{ ns.all }}{% endset %}{{ x | list | map('upper') | join('-') }}{{ [1.5, none, {'a': (1, 2)}] }}"
    "{{ strftime_now('%Y') | length }}{{ messages | selectattr('role', 'equalto', 'user') | list | length }}";

static rapt_tokenizer *letters;

/* A tokenizer keeps pieces from text to text: it makes its table for them before, in its full size. */
static bool encode_once(void)
{
    static char text[(2 << 20) + 1];
    int32_t *ids = NULL;
    size_t count;
    for (size_t i = 0; i + 1 < sizeof text; i++)
        text[i] = i % 2 ? ' ' : 'a';
    const bool ok = rapt_tokenizer_encode(letters, text, &ids, &count, NULL) == RAPT_OK;
    free(ids);
    return ok;
}

static int make_files(void **state)
{
    if (failing_check_link(state) || folder_make(state))
        return -1;
    write_file("chat_template.jinja", TEMPLATE, sizeof TEMPLATE - 1);
    write_file("tokenizer_config.json", "{\"bos_token\": \"<s>\"}", 20);
    char all[256];
    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (char)i;
    letters = rapt_tokenizer_train_bpe(all, sizeof all, &TRAIN_BPE(.vocab_size = 256), NULL);
    return letters && encode_once() ? 0 : -1;
}

static rapt_code converse(void)
{
    static const rapt_chat_message messages[] = {{"system", "Be b c."}, {"user", " a b c "}};
    rapt_error err = {0};
    char *text = NULL;
    int32_t *ids = NULL;
    size_t size, count;
    rapt_chat_template *chat = rapt_chat_template_load(folder_path, &err);
    rapt_code code = chat ? rapt_chat_apply(chat, messages, 2, NULL, &text, &size, &err) : err.code;
    code = code ? code : rapt_chat_encode(letters, text, size, &ids, &count, &err);
    assert_int_equal(code, err.code);
    assert_true(!code || strstr(err.message, "out of memory"));
    free(ids);
    free(text);
    rapt_chat_template_free(chat);
    return code;
}

static void each_allocation_can_fail(void **state)
{
    (void)state;
    failing f = {.what = "a conversation", .at_least = 30};
    do {
        failing_arm(&f);
    } while (failing_again(&f, converse()));
}

static int free_files(void **state)
{
    rapt_tokenizer_free(letters);
    return folder_remove(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_can_fail)};
    return cmocka_run_group_tests(tests, make_files, free_files);
}
