/* cli/data_conversations.c: counts what a file of conversations has, and what training would refuse, by reason; shows which
 * tokens carry loss. data/conversation.c reads the lines. */
#include "cli/data_conversations.h"

#include "base/buffer.h"
#include "cli/cli.h"
#include "cli/cli_model.h"
#include "cli/put_json.h"
#include "cli/say.h"
#include "data/conversation_set.h"
#include "io/model.h"
#include "io/model_core.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

typedef enum conversation_form { FORM_MESSAGES, FORM_COMPLETION, FORM_TEXT, FORMS } conversation_form;

static const char *const FORM_KEYS[] = {"messages", "completion", "text"},
    *const FORM_TEXTS[] = {"messages", "prompt and completion", "plain text"};

/* What a line has: a fault of its own, or one that shows when the model's template and tokenizer take it. */
enum { FAULT_ENCODING = CONVERSATION_FAULT_COUNT, FAULTS };
#define FAULT_KEY(name, key, text) key,
#define FAULT_TEXT(name, key, text) text,
static const char *const FAULT_KEYS[] = {CONVERSATION_FAULTS(FAULT_KEY) "not_encoded"},
    *const FAULT_TEXTS[] = {CONVERSATION_FAULTS(FAULT_TEXT) "not rendered, marked or encoded"};

typedef struct conversations_report {
    const conversations_check *o;
    conversation_rule rule; /* with a model */
    size_t lines, faults, forms[FORMS], found[FAULTS], first[FAULTS];
    size_t tokens, counted, longest;
} conversations_report;

/* ---- a line -------------------------------------------------------------------------------------------------------- */

static void conversations_fault(conversations_report *r, size_t line, unsigned fault, const char *why)
{
    r->faults++;
    if (r->found[fault]++ == 0)
        r->first[fault] = line;
    if (r->o->lines) {
        printf("%zu\t%s\t", line, FAULT_KEYS[fault]);
        cli_print_clean(stdout, why);
        putchar('\n');
    }
}

/* Prints tokens [from, to) in a line: those that carry loss, or others. */
static rapt_code show_run(const conversations_report *r, const conversation_tokens *t, size_t from, size_t to, rapt_error *err)
{
    buffer_writer text = {0};
    for (size_t i = from; i < to; i++) {
        size_t size = 0;
        const char *token = rapt_tokenizer_token(r->rule.tokenizer, t->ids[i], &size);
        for (size_t j = 0; token && j < size; j++)
            if (token[j] == '\n')
                buffer_put(&text, "\\n", 2);
            else
                buffer_put(&text, token + j, token[j] != '\0');
    }
    buffer_put(&text, "", 1);
    if (!text.failed) {
        printf("  %c ", t->counts[from] ? '+' : '-');
        cli_print_clean(stdout, text.bytes.data);
        putchar('\n');
    }
    buffer_free(&text.bytes);
    return text.failed ? rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a conversation") : RAPT_OK;
}

static rapt_code show_tokens(const conversations_report *r, size_t line, const conversation_tokens *t, size_t counted,
                             rapt_error *err)
{
    rapt_code code = RAPT_OK;
    printf("line %zu: %zu tokens, %zu carry loss\n", line, t->count, counted);
    for (size_t from = 0, to; from < t->count && !code; from = to) {
        for (to = from + 1; to < t->count && t->counts[to] == t->counts[from]; to++)
            ;
        code = show_run(r, t, from, to, err);
    }
    return code;
}

static rapt_code conversations_encode(conversations_report *r, size_t line, const conversation *c, rapt_error *err)
{
    conversation_tokens t;
    rapt_error why = {0};
    size_t counted = 0;
    rapt_code code = conversation_encode(c, &r->rule, &t, &why);
    for (size_t i = 0; !code && i < t.count; i++)
        counted += t.counts[i];
    if (!code && counted == 0)
        code = rapt_fail(&why, RAPT_ERR_FORMAT, "no token carries loss");
    if (code == RAPT_ERR_MEMORY) {
        rapt_fail(err, code, "%s", why.message);
    } else if (code) {
        conversations_fault(r, line, FAULT_ENCODING, why.message);
        code = RAPT_OK;
    } else {
        r->tokens += t.count;
        r->counted += counted;
        r->longest = t.count > r->longest ? t.count : r->longest;
        if (!r->o->json && !r->o->lines && r->lines - r->faults <= r->o->show)
            code = show_tokens(r, line, &t, counted, err);
    }
    conversation_tokens_free(&t);
    return code;
}

/* A conversation_fn. */
static rapt_code conversations_take_line(void *context, size_t line, const conversation *c, rapt_code code,
                                         const rapt_error *why, rapt_error *err)
{
    conversations_report *r = context;
    r->lines++;
    if (code) {
        conversations_fault(r, line, c->fault, why->message);
        return RAPT_OK;
    }
    r->forms[c->count ? FORM_MESSAGES : c->prompt ? FORM_COMPLETION : FORM_TEXT]++;
    return r->o->model ? conversations_encode(r, line, c, err) : RAPT_OK;
}

/* ---- the report ---------------------------------------------------------------------------------------------------- */

static unsigned conversations_faults(const conversations_report *r)
{
    return r->o->model ? FAULTS : FAULT_ENCODING;
}

static void conversations_print(const conversations_report *r)
{
    if (r->o->show > 0)
        putchar('\n');
    cli_print_clean(stdout, strcmp(r->o->path, "-") == 0 ? "standard input" : r->o->path);
    printf(": %zu line%s, %zu conversation%s\n\n", r->lines, cli_plural(r->lines), r->lines - r->faults,
           cli_plural(r->lines - r->faults));
    printf("%-36s %9s\n", "form", "lines");
    for (unsigned k = 0; k < FORMS; k++)
        printf("%-36s %9zu\n", FORM_TEXTS[k], r->forms[k]);
    printf("\n%-36s %9s %10s\n", "refused by training", "lines", "first line");
    for (unsigned k = 0; k < conversations_faults(r); k++)
        if (r->first[k])
            printf("%-36s %9zu %10zu\n", FAULT_TEXTS[k], r->found[k], r->first[k]);
        else
            printf("%-36s %9zu %10s\n", FAULT_TEXTS[k], r->found[k], "-");
    printf("%-36s %9zu%s\n", "in all", r->faults, r->faults ? ": training refuses the file until they are mended" : "");
    if (r->o->model)
        printf("\n%zu tokens, %zu of them carry loss; the longest conversation has %zu\n", r->tokens, r->counted, r->longest);
}

static rapt_code conversations_print_json(const conversations_report *r, rapt_error *err)
{
    json_t *forms = json_object(), *drop = json_object();
    for (unsigned k = 0; k < FORMS; k++)
        json_object_set_new(forms, FORM_KEYS[k], json_integer((json_int_t)r->forms[k]));
    for (unsigned k = 0; k < conversations_faults(r); k++)
        json_object_set_new(drop, FAULT_KEYS[k],
                            json_pack("{s:I, s:o}", "lines", (json_int_t)r->found[k], "first_line",
                                      r->first[k] ? json_integer((json_int_t)r->first[k]) : json_null()));
    json_t *tokens = r->o->model ? json_pack("{s:I, s:I, s:I}", "all", (json_int_t)r->tokens, "carry_loss",
                                             (json_int_t)r->counted, "longest", (json_int_t)r->longest) : json_null();
    json_t *object = json_pack("{s:[s], s:I, s:o, s:o, s:I, s:I, s:o}", "files", r->o->path, "lines", (json_int_t)r->lines,
                               "forms", forms, "drop", drop, "dropped", (json_int_t)r->faults, "left",
                               (json_int_t)(r->lines - r->faults), "tokens", tokens);
    if (!object)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a JSON object, or a file name that is not UTF-8");
    return put_json(object, 0, err);
}

/* ---- the command --------------------------------------------------------------------------------------------------- */

static rapt_code conversations_check_file(conversations_report *r, rapt_error *err)
{
    conversation_file *f = conversation_file_open(r->o->path, err);
    rapt_code code = f ? conversation_file_each(f, conversations_take_line, r, err) : err->code;
    conversation_file_close(f);
    if (code || r->o->lines)
        return code;
    if (r->o->json)
        return conversations_print_json(r, err);
    conversations_print(r);
    return RAPT_OK;
}

bool data_conversations_name(const char *path)
{
    const size_t size = strlen(path), gz = size > 3 && strcmp(path + size - 3, ".gz") == 0 ? 3 : 0;
    return size > 6 + gz && strncmp(path + size - gz - 6, ".jsonl", 6) == 0;
}

rapt_code data_conversations_rule(conversations_of_model *c, const rapt_model *m, const char *path, rapt_error *err)
{
    *c = (conversations_of_model){0};
    c->chat = rapt_chat_template_load(path, &c->no_chat);
    c->rule = (conversation_rule){.tokenizer = m->language.tokenizer, .chat = c->chat, .no_chat = c->no_chat.message,
                                  .end = model_end_of_reply(m)};
    return c->chat || c->no_chat.code == RAPT_ERR_NOT_FOUND ? RAPT_OK : rapt_fail(err, c->no_chat.code, "%s", c->no_chat.message);
}

void data_conversations_rule_free(conversations_of_model *c)
{
    rapt_chat_template_free(c->chat);
    *c = (conversations_of_model){0};
}

rapt_code data_conversations_check(const conversations_check *o, rapt_error *err)
{
    conversations_report r = {.o = o};
    conversations_of_model c = {0};
    if (!o->model)
        return conversations_check_file(&r, err);
    rapt_model *m = cli_model_inference(o->model, NULL, RAPT_TASK_LANGUAGE_MODEL, err);
    rapt_code code = m ? data_conversations_rule(&c, m, o->model, err) : err->code;
    r.rule = c.rule;
    if (!code)
        code = conversations_check_file(&r, err);
    data_conversations_rule_free(&c);
    rapt_model_free(m);
    return code;
}
