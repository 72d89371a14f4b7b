/* tests/data/test_conversation.c: the forms of conversations and what is no conversation, the tokens that carry loss against
 * masks by hand, and data sets of them. For src/data/conversation*.c. The tokenizer is a tiny Llama's (tools/make_hub.py): a byte
 * is a token, and <|begin|>, <|end|> and <|turn|> are special. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "data/conversation_set.h"
#include "data/dataset.h"
#include "folder.h"
#include "options.h"
#include "rapt/tape.h"

#include <stdlib.h>
#include <string.h>

#define TOKENIZER RAPT_SOURCE_DIR "/tests/golden/hub/llama/tokenizer.json"
enum { END = 257 };

static void put(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* ---- forms -------------------------------------------------------------------------------------------------------- */

/* "role: content|role: content", with a ! behind the messages of a prompt; or "prompt>answer". */
static void describe(const conversation *c, char *to)
{
    *to = '\0';
    for (size_t i = 0; i < c->count; i++)
        to += sprintf(to, "%s%s: %s%s", i ? "|" : "", c->messages[i].role, c->messages[i].content, i < c->given ? "!" : "");
    if (c->count == 0)
        sprintf(to, "%s>%s", c->prompt ? c->prompt : "", c->answer);
}

static void forms_are_told_apart_by_their_keys(void **state)
{
    (void)state;
    static const struct { const char *line, *is; } table[] = {
        {"{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}, {\"role\": \"assistant\", \"content\": \"b\"}]}",
         "user: a|assistant: b"},
        {"{\"prompt\": \"ignored\", \"messages\": [{\"role\": \"developer\", \"content\": \"s\"}, {\"role\": \"user\", "
         "\"content\": \"a\", \"name\": \"x\"}, {\"role\": \"assistant\", \"content\": \"b\", \"weight\": 1}, "
         "{\"role\": \"tool\", \"content\": \"{}\"}]}", "developer: s|user: a|assistant: b|tool: {}"},
        {"{\"conversations\": [{\"from\": \"system\", \"value\": \"s\"}, {\"from\": \"human\", \"value\": \"a\"}, "
         "{\"from\": \"gpt\", \"value\": \"b\"}], \"id\": 123456789012345678901234567890}", "system: s|user: a|assistant: b"},
        {"{\"conversations\": [{\"role\": \"user\", \"content\": \"a\"}, {\"role\": \"assistant\", \"content\": \"b\"}]}",
         "user: a|assistant: b"},
        {"{\"prompt\": \"1 + 1 =\", \"completion\": \" 2\"}", "1 + 1 => 2"},
        {"{\"prompt\": [{\"role\": \"user\", \"content\": \"a\"}], \"completion\": [{\"role\": \"assistant\", "
         "\"content\": \"b\"}]}", "user: a!|assistant: b"},
        {"{\"text\": \"all of it\"}", ">all of it"},
        {"{\"text\": \"all of it\", \"messages\": null, \"completion\": null}", ">all of it"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        conversation c;
        rapt_error err = {0};
        char *line = strdup(table[i].line), text[512];
        assert_int_equal(conversation_read(line, strlen(line), &c, &err), RAPT_OK);
        describe(&c, text);
        assert_string_equal(text, table[i].is);
        conversation_free(&c);
        free(line);
    }
}

#define TURN(role, content) "{\"role\": \"" role "\", \"content\": " content "}"
#define MESSAGES(list) "{\"messages\": [" list "]}"
#define ANSWER TURN("assistant", "\"b\"")

static void what_is_no_conversation_says_why(void **state)
{
    (void)state;
    static const struct { const char *line; conversation_fault fault; const char *why; } table[] = {
        {"{\"messages\": [", CONVERSATION_FAULT_JSON, "column 14: no JSON: "},
        {"{} {}", CONVERSATION_FAULT_JSON, "no JSON: "},
        {"[1]", CONVERSATION_FAULT_JSON, "it is JSON, but no object"},
        {"{\"text\": \"a\\u0000b\"}", CONVERSATION_FAULT_JSON, "no JSON: "},
        {"{\"text\": \"a\", \"text\": \"b\"}", CONVERSATION_FAULT_TWICE, "an object has a key twice"},
        {MESSAGES("{\"role\": \"user\", \"role\": \"user\", \"content\": \"a\"}"), CONVERSATION_FAULT_TWICE, "a key twice"},
        {"{\"question\": \"a\"}", CONVERSATION_FAULT_FORM, "none of \"messages\", \"conversations\""},
        {"{\"prompt\": \"a\"}", CONVERSATION_FAULT_FORM, "none of \"messages\""},
        {"{\"completion\": \"a\"}", CONVERSATION_FAULT_FORM, "must both be texts, or both lists"},
        {"{\"prompt\": \"a\", \"completion\": []}", CONVERSATION_FAULT_FORM, "must both be texts, or both lists"},
        {"{\"text\": \"a\", \"messages\": []}", CONVERSATION_FAULT_FORM, "\"text\" and another form: which of them"},
        {"{\"text\": \"a\", \"system\": \"s\"}", CONVERSATION_FAULT_FORM, "it has \"system\" beside its turns"},
        {"{\"text\": \"a\", \"tools\": []}", CONVERSATION_FAULT_FORM, "it has \"tools\" beside its turns"},
        {"{\"text\": 7}", CONVERSATION_FAULT_FORM, "\"text\" is no text"},
        {"{\"messages\": {}}", CONVERSATION_FAULT_FORM, "\"messages\" is no list"},
        {MESSAGES("7"), CONVERSATION_FAULT_FORM, "message 1 is no object"},
        {MESSAGES(TURN("user", "[]") ", " ANSWER), CONVERSATION_FAULT_FORM, "message 1: \"content\" is no text"},
        {MESSAGES("{\"role\": \"assistant\", \"content\": null, \"tool_calls\": []}"), CONVERSATION_FAULT_FORM,
         "message 1 has \"tool_calls\", which is not implemented"},
        {MESSAGES(TURN("user", "\"a\"") ", {\"role\": \"assistant\", \"content\": \"b\", \"reasoning_content\": \"c\"}"),
         CONVERSATION_FAULT_FORM, "message 2 has \"reasoning_content\", which is not implemented"},
        {MESSAGES(TURN("user", "\"a\"") ", {\"role\": \"assistant\", \"content\": \"b\", \"weight\": 0}"),
         CONVERSATION_FAULT_FORM, "message 2 has a \"weight\" other than 1"},
        {MESSAGES("{\"content\": \"a\"}"), CONVERSATION_FAULT_ROLE, "message 1 has no \"role\""},
        {MESSAGES(TURN("User", "\"a\"")), CONVERSATION_FAULT_ROLE, "message 1: the role \"User\" is unknown"},
        {MESSAGES(TURN("human", "\"a\"")), CONVERSATION_FAULT_ROLE, "message 1: the role \"human\" is unknown"},
        {"{\"conversations\": [{\"from\": \"bing\", \"value\": \"a\"}]}", CONVERSATION_FAULT_ROLE, "\"bing\" is unknown"},
        {MESSAGES(TURN("user", "\" \\n\"") ", " ANSWER), CONVERSATION_FAULT_EMPTY, "message 1 has no text"},
        {MESSAGES(TURN("user", "null") ", " ANSWER), CONVERSATION_FAULT_EMPTY, "message 1 has no \"content\""},
        {MESSAGES("{\"role\": \"user\"}"), CONVERSATION_FAULT_EMPTY, "message 1 has no \"content\""},
        {"{\"prompt\": \"a\", \"completion\": \"\"}", CONVERSATION_FAULT_EMPTY, "\"completion\" has no text"},
        {"{\"text\": \"\"}", CONVERSATION_FAULT_EMPTY, "\"text\" has no text"},
        {MESSAGES(""), CONVERSATION_FAULT_ANSWER, "no message is the assistant's"},
        {MESSAGES(TURN("user", "\"a\"")), CONVERSATION_FAULT_ANSWER, "no message is the assistant's"},
        {"{\"prompt\": [" TURN("user", "\"a\"") ", " ANSWER "], \"completion\": [" TURN("user", "\"c\"") "]}",
         CONVERSATION_FAULT_ANSWER, "no message is the assistant's"},
        {MESSAGES(ANSWER ", " TURN("user", "\"a\"")), CONVERSATION_FAULT_ANSWER, "it answers nothing"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        conversation c;
        rapt_error err = {0};
        char *line = strdup(table[i].line);
        assert_int_equal(conversation_read(line, strlen(line), &c, &err), RAPT_ERR_FORMAT);
        if (c.fault != table[i].fault || !strstr(err.message, table[i].why))
            fail_msg("%s: fault %d, %s", table[i].line, c.fault, err.message);
        conversation_free(&c);
        free(line);
    }
}

static void bounds_are_kept(void **state)
{
    (void)state;
    conversation c;
    rapt_error err = {0};
    enum { DEEP = 100000, TURNS = CONVERSATION_MAX_MESSAGES + 1 };
    char *line = malloc(DEEP + 1), *many = malloc(TURNS * 40 + 20), *to = many + sprintf(many, "{\"messages\": [");
    memset(line, '[', DEEP);
    assert_int_equal(conversation_read(line, DEEP, &c, &err), RAPT_ERR_FORMAT);
    assert_int_equal(c.fault, CONVERSATION_FAULT_DEEP);
    conversation_free(&c);
    for (size_t i = 0; i < TURNS; i++)
        to += sprintf(to, "%s" TURN("user", "\"a\""), i ? "," : "");
    to += sprintf(to, "]}");
    err = (rapt_error){0};
    assert_int_equal(conversation_read(many, (size_t)(to - many), &c, &err), RAPT_ERR_FORMAT);
    assert_string_equal(err.message, "1001 messages; at most 1000 are allowed");
    conversation_free(&c);
    err = (rapt_error){0};
    assert_int_equal(conversation_read(many, CONVERSATION_MAX_BYTES + 1, &c, &err), RAPT_ERR_FORMAT);
    assert_int_equal(c.fault, CONVERSATION_FAULT_LONG);
    assert_string_equal(err.message, "a line of 16777217 bytes; at most 16777216 are allowed");
    conversation_free(&c);
    free(line);
    free(many);
}

/* ---- tokens that carry loss --------------------------------------------------------------------------------------- */

/* The first gives an answer the same form in the middle as at the end; the second shortens answers that others follow. */
#define PLAIN "{% for m in messages %}<|begin|>{{ m.role[0] }}:{{ m.content }}<|end|>{% endfor %}" \
              "{% if add_generation_prompt %}<|begin|>a:{% endif %}"
#define SHORTENS "{% for m in messages %}<|begin|>{{ m.role[0] }}:" \
                 "{{ m.content if loop.last else m.content[0] }}<|end|>{% endfor %}" \
                 "{% if add_generation_prompt %}<|begin|>a:{% endif %}"
#define BARE "{% for m in messages %}{{ m.content }}<|end|>{% endfor %}" /* without what begins an answer */

typedef struct chat {
    rapt_tokenizer *tokenizer;
    rapt_chat_template *template;
    conversation_rule rule;
} chat;

static chat chat_with(const char *template, bool all)
{
    rapt_error err = {0};
    put("chat_template.jinja", template);
    chat c = {rapt_tokenizer_load(TOKENIZER, &err), rapt_chat_template_load(".", &err), {0}};
    assert_string_equal(err.message, "");
    c.rule = (conversation_rule){.tokenizer = c.tokenizer, .chat = c.template, .end = END, .all = all};
    return c;
}

static void chat_free(chat *c)
{
    rapt_tokenizer_free(c->tokenizer);
    rapt_chat_template_free(c->template);
}

#define TALK MESSAGES(TURN("system", "\"S\"") ", " TURN("user", "\"hi\"") ", " TURN("assistant", "\"yes\"") ", " \
                      TURN("user", "\"ok\"") ", " TURN("assistant", "\"no\""))
#define GIVEN "{\"prompt\": [" TURN("user", "\"hi\"") ", " TURN("assistant", "\"yes\"") ", " TURN("user", "\"ok\"") \
              "], \"completion\": [" ANSWER "]}"

/* By hand: what the tokens are, < > for the special ones, and below them which carry loss. */
static const struct { const char *template, *line; bool all; const char *tokens, *mask; } MASKS[] = {
    {PLAIN, TALK, false, "<s:S><u:hi><a:yes><u:ok><a:no>",
                         "000000000000001111000000000111"},
    {PLAIN, TALK, true,  "<s:S><u:hi><a:yes><u:ok><a:no>",
                         "011111111111111111111111111111"},
    {BARE, TALK, false,  "S>hi>yes>ok>no>",
                         "000001111000111"},
    {PLAIN, GIVEN, false, "<u:hi><a:yes><u:ok><a:b>",
                          "000000000000000000000011"},
    {PLAIN, MESSAGES(TURN("user", "\"hi\"") ", " ANSWER ", " TURN("user", "\"ok\"")), false, "<u:hi><a:b><u:ok>",
                                                                                             "00000000011000000"},
    {SHORTENS, MESSAGES(TURN("user", "\"x\"") ", " TURN("assistant", "\"yes\"")), false, "<u:x><a:yes>",
                                                                                         "000000001111"},
    {PLAIN, "{\"prompt\": \"1+1=\", \"completion\": \"2\"}", false, "1+1=2>",
                                                                    "000011"},
    {PLAIN, "{\"prompt\": \"1+1=\", \"completion\": \"2<|end|>\"}", false, "1+1=2>",
                                                                           "000011"},
    {PLAIN, "{\"prompt\": \"1+1=\", \"completion\": \"2\"}", true, "1+1=2>",
                                                                   "011111"},
    {PLAIN, "{\"text\": \"abc\"}", false, "abc>",
                                          "0111"}};

static void read_line(const char *text, conversation *c)
{
    rapt_error err = {0};
    char *line = strdup(text);
    conversation_read(line, strlen(line), c, &err);
    assert_string_equal(err.message, "");
    free(line);
}

/* One character a token. */
static char *tokens_as_text(const rapt_tokenizer *k, const conversation_tokens *t)
{
    char *text = calloc(t->count + 1, 1);
    for (size_t i = 0; i < t->count; i++)
        text[i] = t->ids[i] == END - 1 ? '<' : t->ids[i] == END ? '>' : *rapt_tokenizer_token(k, t->ids[i], NULL);
    return text;
}

static void answers_carry_loss(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof MASKS / sizeof *MASKS; i++) {
        chat k = chat_with(MASKS[i].template, MASKS[i].all);
        conversation c;
        conversation_tokens t;
        rapt_error err = {0};
        read_line(MASKS[i].line, &c);
        conversation_encode(&c, &k.rule, &t, &err);
        assert_string_equal(err.message, "");
        char *text = tokens_as_text(k.tokenizer, &t);
        assert_string_equal(text, MASKS[i].tokens);
        for (size_t j = 0; j < t.count; j++)
            if (t.counts[j] != MASKS[i].mask[j] - '0')
                fail_msg("%s: token %zu of %s", MASKS[i].line, j, text);
        free(text);
        conversation_tokens_free(&t);
        conversation_free(&c);
        chat_free(&k);
    }
}

static void templates_that_cannot_mark_answers_are_refused(void **state)
{
    (void)state;
    chat k = chat_with(SHORTENS, false);
    conversation c;
    conversation_tokens t;
    rapt_error err = {0};
    read_line(TALK, &c);
    assert_int_equal(conversation_encode(&c, &k.rule, &t, &err), RAPT_ERR_FORMAT);
    conversation_tokens_free(&t);
    assert_string_equal(err.message, "the chat template cannot mark answers: the tokens of 2 messages and of the beginning of an "
                                     "answer are not the first ones of all 5 messages (train.loss_on all needs no marks)");
    k.rule.all = true;
    assert_int_equal(conversation_encode(&c, &k.rule, &t, NULL), RAPT_OK);
    conversation_tokens_free(&t);
    k.rule.chat = NULL;
    k.rule.no_chat = "x has none";
    err = (rapt_error){0};
    assert_int_equal(conversation_encode(&c, &k.rule, &t, &err), RAPT_ERR_FORMAT);
    assert_string_equal(err.message, "messages need a chat template: x has none");
    conversation_tokens_free(&t);
    conversation_free(&c);
    chat_free(&k);
}

/* 500 answers among 1000 messages of 2 kB: before each and up to its end there are 1 MB on average. */
static void finding_answers_is_bounded(void **state)
{
    (void)state;
    enum { TURNS = CONVERSATION_MAX_MESSAGES, BYTES = 2048 };
    chat k = chat_with(PLAIN, false);
    conversation c = {.count = TURNS, .messages = malloc(TURNS * sizeof *c.messages)};
    conversation_tokens t;
    rapt_error err = {0};
    char *content = calloc(BYTES + 1, 1);
    memset(content, 'a', BYTES);
    for (size_t i = 0; i < TURNS; i++)
        c.messages[i] = (rapt_chat_message){i % 2 ? "assistant" : "user", content};
    assert_int_equal(conversation_encode(&c, &k.rule, &t, &err), RAPT_ERR_FORMAT);
    assert_string_equal(err.message, "to find its answers takes 977 MiB of text, because it has 1000 messages of 2000 KiB; at "
                                     "most 256 MiB are allowed: split it, or train.loss_on all");
    conversation_tokens_free(&t);
    conversation_free(&c);
    free(content);
    chat_free(&k);
}

/* ---- data sets ---------------------------------------------------------------------------------------------------- */

static rapt_dataset *set_of(const chat *k, size_t context, rapt_too_long too_long, rapt_error *err)
{
    rapt_error why = {0};
    conversation_file *f = conversation_file_open("c.jsonl", &why);
    assert_string_equal(why.message, "");
    const conversation_set_options o = {.rule = k->rule, .context = context, .too_long = too_long};
    rapt_dataset *d = conversation_set_new(f, &o, err);
    conversation_file_close(f);
    return d;
}

static void rows_are_padded_and_labels_masked(void **state)
{
    (void)state;
    chat k = chat_with(PLAIN, false);
    put("c.jsonl", "\xEF\xBB\xBF{\"prompt\": \"1+1=\", \"completion\": \"2\"}\r\n \n{\"text\": \"ab\"}\n");
    rapt_dataset *d = set_of(&k, 64, RAPT_TOO_LONG_ERROR, NULL);
    assert_int_equal(rapt_dataset_count(d), 2);
    rapt_loader *l = rapt_loader_new(d, NULL, NULL);
    const rapt_batch *b = rapt_loader_batch(l, 0, 0);
    assert_int_equal(b->inputs.time, 5);
    assert_int_equal(b->tokens, 2 + 2);
    static const int want[2][2][5] = {{{'1', '+', '1', '=', '2'}, {-1, -1, -1, '2', END}}, {{'a', 'b'}, {'b', END}}};
    for (size_t row = 0; row < 2; row++)
        for (size_t i = 0; i < (row ? 2 : 5); i++)
            for (size_t side = 0; side < 2; side++) {
                const int32_t id = (side ? b->labels : b->inputs).ids[row * 5 + i];
                const int is = id < 0 || id >= END ? id : *rapt_tokenizer_token(k.tokenizer, id, NULL);
                assert_int_equal(is, want[row][side][i]);
            }
    assert_int_equal(b->target_lens[0], 5);
    assert_int_equal(b->target_lens[1], 2);
    assert_int_equal(conversation_set_max_id(d), END);
    rapt_loader_free(l);
    rapt_dataset_free(d);
    chat_free(&k);
}

/* "1+1=2" has 6 tokens: 5 labels, of which the last two count. */
static void long_ones_are_cut_dropped_or_refused(void **state)
{
    (void)state;
    chat k = chat_with(PLAIN, false);
    rapt_error err = {0};
    put("c.jsonl", "{\"text\": \"a\"}\n{\"prompt\": \"1+1=\", \"completion\": \"2\"}\n");
    static const struct { size_t context; rapt_too_long too_long; size_t count, dropped; } table[] = {
        {5, RAPT_TOO_LONG_DROP, 2, 0}, {4, RAPT_TOO_LONG_DROP, 1, 1}, {4, RAPT_TOO_LONG_CUT, 2, 0}, {3, RAPT_TOO_LONG_CUT, 1, 1}};
    for (size_t i = 0; i < 4; i++) {
        rapt_dataset *d = set_of(&k, table[i].context, table[i].too_long, NULL);
        assert_int_equal(rapt_dataset_count(d), table[i].count);
        assert_int_equal(rapt_dataset_dropped(d), table[i].dropped);
        rapt_dataset_free(d);
    }
    assert_null(set_of(&k, 4, RAPT_TOO_LONG_ERROR, &err));
    assert_string_equal(err.message, "c.jsonl:2: a conversation of 6 tokens; model.context 4 allows 5");
    put("c.jsonl", "{\"prompt\": \"1+1=\", \"completion\": \"2\"}\n");
    err = (rapt_error){0};
    assert_null(set_of(&k, 3, RAPT_TOO_LONG_CUT, &err));
    assert_string_equal(err.message, "c.jsonl: no conversation is left: 1, 1 of them left out as too long for model.context 3");
    chat_free(&k);
}

/* All conversations with one prompt are in one set, whatever is answered. */
static void a_prompt_is_in_one_split(void **state)
{
    (void)state;
    chat k = chat_with(PLAIN, false);
    FILE *out = fopen("c.jsonl", "w");
    for (int i = 0; i < 200; i++)
        fprintf(out, MESSAGES(TURN("user", "\"%d\"") ", " TURN("assistant", "\"%d\"")) "\n", i % 100, i);
    fclose(out);
    conversation_file *f = conversation_file_open("c.jsonl", NULL);
    conversation_set_options o = {.rule = k.rule, .context = 64, .validation_fraction = 0.3};
    rapt_dataset *train = conversation_set_new(f, &o, NULL);
    o.validation = true;
    rapt_dataset *valid = conversation_set_new(f, &o, NULL);
    assert_int_equal(rapt_dataset_count(train) + rapt_dataset_count(valid), 200);
    assert_int_equal(rapt_dataset_count(valid) % 2, 0); /* both answers */
    assert_in_range(rapt_dataset_count(valid), 30, 90);
    assert_true(conversation_set_hash(train) != conversation_set_hash(valid));
    rapt_dataset_free(train);
    rapt_dataset_free(valid);
    conversation_file_close(f);
    chat_free(&k);
}

/* Each epoch has the same number of batches, none of them empty, of nearly the same size, and every conversation once. */
static void check_packed(const rapt_dataset *d, size_t tokens)
{
    rapt_loader *l = rapt_loader_new(d, &LOADER(.batch_tokens = tokens, .shuffle = true, .seed = 5), NULL);
    const size_t count = rapt_dataset_count(d), batches = rapt_loader_batches(l);
    size_t all = dataset_target_tokens(d), first[2] = {0};
    assert_int_equal(batches, all / tokens ? all / tokens : 1);
    for (size_t epoch = 0; epoch < 2; epoch++) {
        uint8_t *seen = calloc(count, 1);
        for (size_t i = 0; i < batches; i++) {
            const rapt_batch *b = rapt_loader_batch(l, epoch, i);
            size_t size = 0;
            for (size_t row = 0; row < b->inputs.batch; row++) {
                size += (size_t)b->target_lens[row];
                assert_int_equal(seen[b->examples[row]]++, 0);
            }
            assert_true(b->inputs.batch > 0 && size < all / batches + dataset_longest(d) + 1);
            first[epoch] = i == 0 ? b->examples[0] : first[epoch];
        }
        for (size_t i = 0; i < count; i++)
            assert_int_equal(seen[i], 1);
        free(seen);
    }
    assert_true(first[0] != first[1] || count < 3);
    rapt_loader_free(l);
}

static void packed_batches_have_about_as_many_tokens(void **state)
{
    (void)state;
    chat k = chat_with(PLAIN, false);
    FILE *f = fopen("c.jsonl", "w");
    for (int i = 0; i < 100; i++) {
        fprintf(f, "{\"text\": \"");
        for (int j = 0; j < 1 + i * i % 40; j++)
            fputc('a' + j % 26, f);
        fprintf(f, "\"}\n");
    }
    fclose(f);
    conversation_file *c = conversation_file_open("c.jsonl", NULL);
    const conversation_set_options o = {.rule = k.rule, .context = 40, .packed = true};
    rapt_dataset *d = conversation_set_new(c, &o, NULL);
    assert_int_equal(dataset_longest(d), 37);
    for (size_t tokens = 40; tokens < 2500; tokens += tokens / 3)
        check_packed(d, tokens);
    rapt_dataset_free(d);
    conversation_file_close(c);
    chat_free(&k);
}

static void bad_lines_are_named(void **state)
{
    (void)state;
    chat k = chat_with(SHORTENS, false);
    static const struct { const char *text, *why; } table[] = {
        {"{\"text\": \"a\"}\n\n{\"text\": 1}\n", "c.jsonl:3: \"text\" is no text"},
        {"{\"text\": \"a\"}\n" TALK "\n", "c.jsonl:2: the chat template cannot mark answers"},
        {"{\"text\": \"a\xff\"}\n", "c.jsonl:1: byte 12 of the line (0xff) is not valid UTF-8"}};
    for (size_t i = 0; i < 3; i++) {
        rapt_error err = {0};
        put("c.jsonl", table[i].text);
        conversation_file *f = conversation_file_open("c.jsonl", &err);
        rapt_dataset *d = f ? conversation_set_new(f, &(conversation_set_options){.rule = k.rule, .context = 64}, &err) : NULL;
        assert_null(d);
        if (strncmp(err.message, table[i].why, strlen(table[i].why)) != 0)
            fail_msg("%s", err.message);
        conversation_file_close(f);
    }
    rapt_error err = {0};
    put("c.jsonl", "");
    assert_null(conversation_file_open("c.jsonl", &err));
    assert_string_equal(err.message, "c.jsonl: the file is empty");
    err = (rapt_error){0};
    put("c.jsonl", " \n\n");
    assert_null(conversation_file_open("c.jsonl", &err));
    assert_string_equal(err.message, "c.jsonl: the file has only blank lines");
    chat_free(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_are_told_apart_by_their_keys), cmocka_unit_test(what_is_no_conversation_says_why),
        cmocka_unit_test(bounds_are_kept), IN_FOLDER(answers_carry_loss),
        IN_FOLDER(templates_that_cannot_mark_answers_are_refused), IN_FOLDER(finding_answers_is_bounded),
        IN_FOLDER(rows_are_padded_and_labels_masked),
        IN_FOLDER(long_ones_are_cut_dropped_or_refused), IN_FOLDER(a_prompt_is_in_one_split),
        IN_FOLDER(packed_batches_have_about_as_many_tokens), IN_FOLDER(bad_lines_are_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
