/* tests/data/test_conversation_no_memory.c: every allocation of a file of conversations or preferences, and of the data set made
 * of it, is made to fail in turn. For src/data/conversation*.c and preference.c. Linked as tests/failing.h says. */
#define _GNU_SOURCE
#include "failing.h"

#include "data/conversation_set.h"
#include "folder.h"

#include <stdio.h>
#include <string.h>

static rapt_tokenizer *tokenizer;
static rapt_chat_template *chat;

static void put(const char *name, const char *text)
{
    FILE *f = fopen(folder_in(name), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static rapt_code read_and_encode(const char *name, bool preferences)
{
    rapt_error err = {0};
    const conversation_set_options o = {.rule = {.tokenizer = tokenizer, .chat = chat, .end = 257}, .context = 64,
                                        .preferences = preferences};
    conversation_file *f = conversation_file_open(folder_in(name), &err);
    rapt_dataset *d = f ? conversation_set_new(f, &o, &err) : NULL;
    assert_int_equal(d != NULL, err.code == RAPT_OK);
    assert_true(d || strstr(err.message, "out of memory"));
    rapt_dataset_free(d);
    conversation_file_close(f);
    return err.code;
}

static int make_files(void **state)
{
    if (failing_check_link(state) || folder_make(state))
        return -1;
    put("c.jsonl", "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}, {\"role\": \"assistant\", \"content\": \"b\"}, "
        "{\"role\": \"user\", \"content\": \"c\"}, {\"role\": \"assistant\", \"content\": \"d\"}]}\n"
        "{\"prompt\": \"1 + 1 =\", \"completion\": \" 2\"}\n{\"text\": \"all\"}\n");
    put("chat_template.jinja", "{% for m in messages %}<|begin|>{{ m.content }}<|end|>{% endfor %}"
        "{% if add_generation_prompt %}<|begin|>{% endif %}");
    tokenizer = rapt_tokenizer_load(RAPT_SOURCE_DIR "/tests/golden/hub/llama/tokenizer.json", NULL);
    chat = rapt_chat_template_load(folder_path, NULL);
    put("p.jsonl", "{\"prompt\": [{\"role\": \"user\", \"content\": \"a\"}], \"chosen\": [{\"role\": \"assistant\", "
        "\"content\": \"b\"}], \"rejected\": [{\"role\": \"assistant\", \"content\": \"c\"}]}\n"
        "{\"chosen\": \"1 + 1 = 2\", \"rejected\": \"1 + 1 = 3\"}\n");
    return tokenizer && chat ? 0 : -1;
}

static void make_each_fail(const char *what, const char *name, bool preferences)
{
    failing f = {.what = what, .at_least = 40};
    assert_int_equal(read_and_encode(name, preferences), RAPT_OK); /* a tokenizer keeps tables from text to text */
    do {
        failing_arm(&f);
    } while (failing_again(&f, read_and_encode(name, preferences)));
}

static void each_allocation_can_fail(void **state)
{
    (void)state;
    make_each_fail("a file of conversations", "c.jsonl", false);
}

static void so_can_those_of_preferences(void **state)
{
    (void)state;
    make_each_fail("a file of preferences", "p.jsonl", true);
}

static int free_files(void **state)
{
    rapt_chat_template_free(chat);
    rapt_tokenizer_free(tokenizer);
    return folder_remove(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_can_fail), cmocka_unit_test(so_can_those_of_preferences)};
    return cmocka_run_group_tests(tests, make_files, free_files);
}
