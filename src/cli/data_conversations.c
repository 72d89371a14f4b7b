/* cli/data_conversations.c: counts what a file of conversations or preferences has, and what training would refuse, by reason;
 * shows which tokens carry loss. data/conversation.c and data/preference.c read the lines. */
#include "cli/data_conversations.h"

#include "base/buffer.h"
#include "cli/cli.h"
#include "cli/cli_model.h"
#include "cli/put_json.h"
#include "cli/say.h"
#include "data/conversation_file.h"
#include "data/preference.h"
#include "io/model.h"
#include "io/model_core.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

typedef enum conversation_form { FORM_MESSAGES, FORM_COMPLETION, FORM_TEXT, FORMS } conversation_form;
enum { FORM_TEXTS = 1, PREFERENCE_FORMS }; /* preferences are messages, too, or texts */

static const char *const FORM_KEYS[2][FORMS] = {{"messages", "completion", "text"}, {"messages", "texts"}},
    *const FORM_NAMES[2][FORMS] = {{"messages", "prompt and completion", "plain text"},
                                   {"chosen and rejected messages", "chosen and rejected texts"}};

/* What a line has: a fault of its own, or one that shows when the model's template and tokenizer take it. */
enum { FAULT_ENCODING = CONVERSATION_FAULT_COUNT, FAULTS };
#define FAULT_KEY(name, key, text) key,
#define FAULT_TEXT(name, key, text) text,
static const char *const FAULT_KEYS[] = {CONVERSATION_FAULTS(FAULT_KEY) "not_encoded"},
    *const FAULT_TEXTS[] = {CONVERSATION_FAULTS(FAULT_TEXT) "not rendered, marked or encoded"};

typedef struct conversations_report {
    const conversations_check *o;
    conversation_rule rule; /* with a model */
    bool preferences;
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

/* Counts a conversation, and prints its tokens if it is one of the first ones. `side`: " chosen", or empty. */
static rapt_code show_tokens(conversations_report *r, size_t line, const char *side, const conversation_tokens *t,
                             rapt_error *err)
{
    const size_t counted = conversation_tokens_counted(t, t->count);
    rapt_code code = RAPT_OK;
    r->tokens += t->count;
    r->counted += counted;
    r->longest = t->count > r->longest ? t->count : r->longest;
    if (r->o->json || r->o->lines || r->lines - r->faults > r->o->show)
        return RAPT_OK;
    printf("line %zu%s: %zu tokens, %zu carry loss\n", line, side, t->count, counted);
    for (size_t from = 0, to; from < t->count && !code; from = to) {
        for (to = from + 1; to < t->count && t->counts[to] == t->counts[from]; to++)
            ;
        code = show_run(r, t, from, to, err);
    }
    return code;
}

/* After a conversation was encoded, or was not. */
static rapt_code conversations_encoded(conversations_report *r, size_t line, rapt_code code, const rapt_error *why,
                                       rapt_error *err)
{
    if (code == RAPT_ERR_MEMORY)
        return rapt_fail(err, code, "%s", why->message);
    if (code)
        conversations_fault(r, line, FAULT_ENCODING, why->message);
    return RAPT_OK;
}

static rapt_code encode_conversation(conversations_report *r, size_t line, const conversation *c, rapt_error *err)
{
    conversation_tokens t;
    rapt_error why = {0};
    rapt_code code = conversation_encode(c, &r->rule, &t, &why);
    if (!code && conversation_tokens_counted(&t, t.count) == 0)
        code = rapt_fail(&why, RAPT_ERR_FORMAT, "no token carries loss");
    code = code ? conversations_encoded(r, line, code, &why, err) : show_tokens(r, line, "", &t, err);
    conversation_tokens_free(&t);
    return code;
}

static rapt_code encode_preference(conversations_report *r, size_t line, const preference *p, rapt_error *err)
{
    preference_tokens t;
    rapt_error why = {0};
    rapt_code code = preference_encode(p, &r->rule, &t, &why);
    if (code)
        code = conversations_encoded(r, line, code, &why, err);
    else if (!(code = show_tokens(r, line, ", chosen", &t.chosen, err)))
        code = show_tokens(r, line, ", rejected", &t.rejected, err);
    preference_tokens_free(&t);
    return code;
}

static rapt_code take_conversation(conversations_report *r, size_t line, char *text, size_t size, rapt_error *why,
                                   rapt_error *err)
{
    conversation c;
    rapt_code code = conversation_read(text, size, &c, why);
    if (code == RAPT_ERR_FORMAT) {
        conversations_fault(r, line, c.fault, why->message);
        code = RAPT_OK;
    } else if (!code) {
        r->forms[c.count ? FORM_MESSAGES : c.prompt ? FORM_COMPLETION : FORM_TEXT]++;
        code = r->o->model ? encode_conversation(r, line, &c, err) : RAPT_OK;
    } else {
        rapt_fail(err, code, "%s", why->message);
    }
    conversation_free(&c);
    return code;
}

static rapt_code take_preference(conversations_report *r, size_t line, char *text, size_t size, rapt_error *why,
                                 rapt_error *err)
{
    preference p;
    rapt_code code = preference_read(text, size, &p, why);
    if (code == RAPT_ERR_FORMAT) {
        conversations_fault(r, line, p.fault, why->message);
        code = RAPT_OK;
    } else if (!code) {
        r->forms[p.chosen.count ? FORM_MESSAGES : FORM_TEXTS]++;
        code = r->o->model ? encode_preference(r, line, &p, err) : RAPT_OK;
    } else {
        rapt_fail(err, code, "%s", why->message);
    }
    preference_free(&p);
    return code;
}

/* A conversation_line_fn. */
static rapt_code conversations_take_line(void *context, size_t line, char *text, size_t size, rapt_error *err)
{
    conversations_report *r = context;
    rapt_error why = {0};
    r->lines++;
    return (r->preferences ? take_preference : take_conversation)(r, line, text, size, &why, err);
}

/* ---- the report ---------------------------------------------------------------------------------------------------- */

/* Whether a fault can be of this file. */
static bool conversations_has_fault(const conversations_report *r, unsigned k)
{
    return k == FAULT_ENCODING ? r->o->model != NULL : k != CONVERSATION_FAULT_SAME || r->preferences;
}

static size_t conversations_forms(const conversations_report *r)
{
    return r->preferences ? PREFERENCE_FORMS : FORMS;
}

static void conversations_print(const conversations_report *r)
{
    if (r->o->show > 0)
        putchar('\n');
    cli_print_clean(stdout, strcmp(r->o->path, "-") == 0 ? "standard input" : r->o->path);
    printf(": %zu line%s, %zu %s%s\n\n", r->lines, cli_plural(r->lines), r->lines - r->faults,
           r->preferences ? "preference" : "conversation", cli_plural(r->lines - r->faults));
    printf("%-36s %9s\n", "form", "lines");
    for (unsigned k = 0; k < conversations_forms(r); k++)
        printf("%-36s %9zu\n", FORM_NAMES[r->preferences][k], r->forms[k]);
    printf("\n%-36s %9s %10s\n", "refused by training", "lines", "first line");
    for (unsigned k = 0; k < FAULTS; k++)
        if (r->first[k])
            printf("%-36s %9zu %10zu\n", FAULT_TEXTS[k], r->found[k], r->first[k]);
        else if (conversations_has_fault(r, k))
            printf("%-36s %9zu %10s\n", FAULT_TEXTS[k], r->found[k], "-");
    printf("%-36s %9zu%s\n", "in all", r->faults, r->faults ? ": training refuses the file until they are mended" : "");
    if (r->o->model)
        printf("\n%zu tokens, %zu of them carry loss; the longest %s %zu\n", r->tokens, r->counted,
               r->preferences ? "answer with its prompt has" : "conversation has", r->longest);
}

static rapt_code conversations_print_json(const conversations_report *r, rapt_error *err)
{
    json_t *forms = json_object(), *drop = json_object();
    for (unsigned k = 0; k < conversations_forms(r); k++)
        json_object_set_new(forms, FORM_KEYS[r->preferences][k], json_integer((json_int_t)r->forms[k]));
    for (unsigned k = 0; k < FAULTS; k++)
        if (conversations_has_fault(r, k))
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
    r->preferences = f && conversation_file_has_preferences(f);
    rapt_code code = f ? conversation_file_lines(f, conversations_take_line, r, err) : err->code;
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
