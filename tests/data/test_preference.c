/* tests/data/test_preference.c: the forms of preferences and what is no preference, the tokens that carry loss against masks by
 * hand, and data sets of them. For src/data/preference.c. The tokenizer is a tiny Llama's (tools/make_hub.py): a byte is a token,
 * and <|begin|>, <|end|> and <|turn|> are special. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "data/conversation_set.h"
#include "data/dataset.h"
#include "data/preference.h"
#include "folder.h"
#include "options.h"
#include "rapt/tape.h"

#include <stdlib.h>
#include <string.h>

#define TOKENIZER RAPT_SOURCE_DIR "/tests/golden/hub/llama/tokenizer.json"
enum { END = 257 };

#define TURN(role, content) "{\"role\": \"" role "\", \"content\": \"" content "\"}"
#define PROMPT(list) "{\"prompt\": " list ", "
#define SIDES(chosen, rejected) "\"chosen\": " chosen ", \"rejected\": " rejected "}"
#define A(content) "[" TURN("assistant", content) "]"
#define ASK "[" TURN("user", "q") "]"

static void put(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* ---- forms ---------------------------------------------------------------------------------------------------------- */

/* "role: content|role: content", with a ! behind the messages of the prompt; or "prompt>answer". */
static char *describe(const conversation *c, char *to)
{
    for (size_t i = 0; i < c->count; i++)
        to += sprintf(to, "%s%s: %s%s", i ? "|" : "", c->messages[i].role, c->messages[i].content, i < c->given ? "!" : "");
    return c->count ? to : to + sprintf(to, "%s>%s", c->prompt ? c->prompt : "", c->answer);
}

static void forms_are_told_apart(void **state)
{
    (void)state;
    static const struct { const char *line, *is; } table[] = {
        {PROMPT(ASK) SIDES(A("a"), A("b")), "user: q!|assistant: a / user: q!|assistant: b"},
        {PROMPT("[" TURN("user", "q") ", " TURN("assistant", "r") ", " TURN("user", "s") "]") SIDES(A("a"), A("b")),
         "user: q!|assistant: r!|user: s!|assistant: a / user: q!|assistant: r!|user: s!|assistant: b"},
        {"{" SIDES("[" TURN("user", "q") ", " TURN("assistant", "a") "]", "[" TURN("user", "q") ", " TURN("assistant", "b") "]"),
         "user: q!|assistant: a / user: q!|assistant: b"},
        {PROMPT("null") SIDES("[" TURN("user", "q") ", " TURN("assistant", "r") ", " TURN("user", "s") ", "
                              TURN("assistant", "a") "]",
                              "[" TURN("user", "q") ", " TURN("assistant", "r") ", " TURN("user", "s") ", "
                              TURN("assistant", "b") ", " TURN("user", "t") "]"),
         "user: q!|assistant: r!|user: s!|assistant: a / user: q!|assistant: r!|user: s!|assistant: b|user: t"},
        {"{\"messages\": 1, \"score_chosen\": 3, " SIDES("\"ab\"", "\"ac\""), ">ab / >ac"},
        {PROMPT("\"1 + 1 =\"") SIDES("\" 2\"", "\" 3\""), "1 + 1 => 2 / 1 + 1 => 3"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        preference p;
        rapt_error err = {0};
        char *line = strdup(table[i].line), text[512];
        assert_true(preference_is(line, strlen(line)));
        assert_int_equal(preference_read(line, strlen(line), &p, &err), RAPT_OK);
        char *end = describe(&p.chosen, text);
        describe(&p.rejected, end + sprintf(end, " / "));
        assert_string_equal(text, table[i].is);
        preference_free(&p);
        free(line);
    }
}

static void what_is_no_preference_says_why(void **state)
{
    (void)state;
    static const struct { const char *line; conversation_fault fault; const char *why; } table[] = {
        {"{\"chosen\": ", CONVERSATION_FAULT_JSON, "no JSON: "},
        {"[1]", CONVERSATION_FAULT_JSON, "it is JSON, but no object"},
        {"{\"chosen\": \"a\", \"chosen\": \"b\", \"rejected\": \"c\"}", CONVERSATION_FAULT_TWICE, "a key twice"},
        {"{\"messages\": []}", CONVERSATION_FAULT_FORM, "no \"chosen\""},
        {"{\"chosen\": \"a\"}", CONVERSATION_FAULT_FORM, "no \"rejected\""},
        {"{\"chosen\": \"a\", \"rejected\": null}", CONVERSATION_FAULT_FORM, "no \"rejected\""},
        {"{" SIDES("\"a\"", "[]"), CONVERSATION_FAULT_FORM, "must both be texts, or both lists"},
        {PROMPT("[]") SIDES("\"a\"", "\"b\""), CONVERSATION_FAULT_FORM, "are texts, and \"prompt\" is none"},
        {PROMPT("\"q\"") SIDES(A("a"), A("b")), CONVERSATION_FAULT_FORM, "\"prompt\" is a text, and \"chosen\" and"},
        {PROMPT("7") SIDES(A("a"), A("b")), CONVERSATION_FAULT_FORM, "\"prompt\" is no list"},
        {"{\"system\": \"s\", " SIDES("\"a\"", "\"b\""), CONVERSATION_FAULT_FORM, "it has \"system\" beside its turns"},
        {PROMPT(ASK) SIDES("[" TURN("bot", "a") "]", A("b")), CONVERSATION_FAULT_ROLE, "message 2: the role \"bot\" is unknown"},
        {PROMPT(ASK) SIDES(A("a"), "[" TURN("bot", "b") "]"), CONVERSATION_FAULT_ROLE, "message 2: the role \"bot\" is unknown"},
        {PROMPT(ASK) SIDES(A("a"), A(" ")), CONVERSATION_FAULT_EMPTY, "message 2 has no text"},
        {PROMPT("\" \"") SIDES("\"a\"", "\"b\""), CONVERSATION_FAULT_EMPTY, "\"prompt\" has no text"},
        {PROMPT("\"q\"") SIDES("\"\"", "\"b\""), CONVERSATION_FAULT_EMPTY, "\"chosen\" has no text"},
        {PROMPT("\"q\"") SIDES("\"a\"", "\"\\n\""), CONVERSATION_FAULT_EMPTY, "\"rejected\" has no text"},
        {PROMPT("[]") SIDES(A("a"), A("b")), CONVERSATION_FAULT_ANSWER, "\"prompt\" has no message"},
        {PROMPT(ASK) SIDES("[]", A("b")), CONVERSATION_FAULT_ANSWER, "\"chosen\" ends before the two differ"},
        {PROMPT(ASK) SIDES(A("a"), "[]"), CONVERSATION_FAULT_ANSWER, "\"rejected\" ends before the two differ"},
        {"{" SIDES("[" TURN("user", "q") ", " TURN("assistant", "a") "]", "[" TURN("user", "r") ", " TURN("assistant", "b") "]"),
         CONVERSATION_FAULT_ANSWER, "first differ in message 1, which is not the assistant's in both"},
        {"{" SIDES(A("a"), A("b")), CONVERSATION_FAULT_ANSWER, "the first message is the assistant's"},
        {"{" SIDES("\"a\"", "\"a\""), CONVERSATION_FAULT_SAME, "are the same text"},
        {PROMPT(ASK) SIDES(A("a"), A("a")), CONVERSATION_FAULT_SAME, "are the same messages"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        preference p;
        rapt_error err = {0};
        char *line = strdup(table[i].line);
        assert_int_equal(preference_read(line, strlen(line), &p, &err), RAPT_ERR_FORMAT);
        if (p.fault != table[i].fault || !strstr(err.message, table[i].why))
            fail_msg("%s: fault %d, %s", table[i].line, (int)p.fault, err.message);
        preference_free(&p);
        free(line);
    }
}

static void a_line_has_a_limit(void **state)
{
    (void)state;
    preference p;
    rapt_error err = {0};
    char line[] = "{}";
    assert_int_equal(preference_read(line, CONVERSATION_MAX_BYTES + (size_t)1, &p, &err), RAPT_ERR_FORMAT);
    assert_int_equal(p.fault, CONVERSATION_FAULT_LONG);
    preference_free(&p);
    assert_false(preference_is(line, CONVERSATION_MAX_BYTES + (size_t)1));
    assert_false(preference_is("{\"chosen\": 1}", 13));
}

/* ---- data sets ------------------------------------------------------------------------------------------------------ */

typedef struct setup {
    rapt_tokenizer *tokenizer;
    rapt_chat_template *chat;
} setup;

static rapt_dataset *make(const setup *s, size_t context, rapt_too_long too_long, bool packed, rapt_error *err)
{
    conversation_file *f = conversation_file_open(folder_in("p.jsonl"), err);
    const conversation_set_options o = {.rule = {.tokenizer = s->tokenizer, .chat = s->chat, .end = END}, .context = context,
                                        .too_long = too_long, .packed = packed, .preferences = true};
    rapt_dataset *d = f ? conversation_set_new(f, &o, err) : NULL;
    conversation_file_close(f);
    return d;
}

static void open_setup(setup *s)
{
    rapt_error err = {0};
    put(folder_in("chat_template.jinja"), "{% for m in messages %}<|begin|>{{ m.content }}<|end|>{% endfor %}"
                                          "{% if add_generation_prompt %}<|begin|>{% endif %}");
    s->tokenizer = rapt_tokenizer_load(TOKENIZER, &err);
    s->chat = rapt_chat_template_load(folder_path, &err);
    assert_string_equal(err.message, "");
}

static void close_setup(setup *s)
{
    rapt_chat_template_free(s->chat);
    rapt_tokenizer_free(s->tokenizer);
}

/* A row as text: labels, with . for RAPT_NO_LABEL and $ for <|end|>. Token 0 is the byte '!'. */
static void assert_labels(const dataset_example *e, const char *wanted)
{
    char text[64] = "";
    for (size_t i = 0; i < e->target_len; i++)
        text[i] = (char)(e->target[i] == RAPT_NO_LABEL ? '.' : e->target[i] == END ? '$' : '!' + e->target[i]);
    assert_string_equal(text, wanted);
}

static void answers_carry_loss(void **state)
{
    (void)state;
    setup s;
    rapt_error err = {0};
    open_setup(&s);
    put(folder_in("p.jsonl"), PROMPT(ASK) SIDES(A("yes"), A("n")) "\n\n"
        PROMPT("\"1+1=\"") SIDES("\"2\"", "\"33\"") "\n{" SIDES("\"abcd\"", "\"abx\"") "\n");
    rapt_dataset *d = make(&s, 64, RAPT_TOO_LONG_CUT, false, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(d->count, 3);
    assert_int_equal(dataset_rows(d), 6);
    static const char *const rows[] = {"...yes$", "...n$", "...2$", "...33$", ".cd$", ".x$"};
    for (size_t i = 0; i < 6; i++) {
        const dataset_example *e = dataset_row(d, i);
        assert_labels(e, rows[i]);
        assert_int_equal(e->counted, strlen(rows[i]) - strspn(rows[i], "."));
    }
    assert_int_equal(dataset_target_tokens(d), 7 + 5 + 5 + 6 + 4 + 3);
    rapt_dataset_free(d);
    close_setup(&s);
}

/* Both answers stay or go together; a batch has them one after the other. */
static void pairs_stay_together(void **state)
{
    (void)state;
    setup s;
    rapt_error err = {0};
    open_setup(&s);
    put(folder_in("p.jsonl"), PROMPT(ASK) SIDES(A("yes"), A("n")) "\n" PROMPT("\"1+1=\"") SIDES("\"2\"", "\"12345678\"") "\n"
        PROMPT("\"123456789\"") SIDES("\"a\"", "\"b\"") "\n");
    rapt_dataset *d = make(&s, 8, RAPT_TOO_LONG_CUT, false, &err); /* the last pair has no answers left */
    assert_int_equal(d->count, 2);
    assert_true(d->cut == 1 && d->dropped == 1 && d->rejected[1].target_len == 8);
    rapt_loader *l = rapt_loader_new(d, &LOADER(.batch_size = 2), &err);
    const rapt_batch *b = rapt_loader_batch(l, 0, 0);
    assert_true(b->labels.batch == 4 && b->labels.time == 8 && b->tokens == 4 + 2 + 2 + 5);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(b->examples[i], i);
        assert_int_equal(b->target_lens[i], dataset_row(d, i)->target_len);
        assert_memory_equal(b->labels.ids + 8 * i, dataset_row(d, i)->target, (size_t)b->target_lens[i] * sizeof(int32_t));
    }
    rapt_loader_free(l);
    rapt_dataset_free(d);
    d = make(&s, 8, RAPT_TOO_LONG_DROP, true, &err);
    assert_true(d->count == 1 && d->dropped == 2);
    rapt_dataset_free(d);
    assert_null(make(&s, 8, RAPT_TOO_LONG_ERROR, false, &err));
    assert_non_null(strstr(err.message, "p.jsonl:2: a conversation of 13 tokens; model.context 8 allows 9"));
    close_setup(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_are_told_apart), cmocka_unit_test(what_is_no_preference_says_why),
        cmocka_unit_test(a_line_has_a_limit),
        cmocka_unit_test_setup_teardown(answers_carry_loss, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(pairs_stay_together, folder_make, folder_remove)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
