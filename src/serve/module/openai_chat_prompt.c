/* serve/module/openai_chat_prompt.c: messages as a prompt. */
#include "serve/module/openai_chat.h"

#include "decode/schema/constraint.h"
#include "io/model_core.h"
#include "serve/module/exchange_work.h"
#include "serve/module/openai_format.h"
#include "serve/module/openai_tools.h"
#include "serve/module/reply.h"
#include "text/chat/chat_template.h"

#include <stdlib.h>
#include <string.h>

enum {
    MESSAGE = 400,        /* bytes of a message besides its text, as variables of a template */
    TEMPLATE = 8 << 20,   /* bytes that a template may take, and copies of the messages */
    TEMPLATE_COPIES = 8,
    JSON_VALUES = 8,      /* times the bytes of JSON that its values take, as texts do not */
    TOKENS = 48           /* bytes for each byte of the text while it is encoded */
};

/* A template's error without the path of its file, which only the operator should see. */
static const char *without_folder(const char *message, const served *s)
{
    const size_t size = strlen(s->path);
    if (strncmp(message, s->path, size) != 0)
        return message;
    message += size;
    return message + strspn(message, "/");
}

static size_t json_bytes(const json_t *value)
{
    return value ? json_dumpb(value, NULL, 0, JSON_COMPACT) : 0;
}

/* Appends the opening of the call that the reply must be. */
static bool append_opening(const openai_tools *t, char **text, size_t *size, fields *f)
{
    char *opening, *longer = NULL;
    if (!openai_tools_opening(t, &opening, f))
        return false;
    const size_t more = opening ? strlen(opening) : 0;
    if (more > 0 && !(longer = realloc(*text, *size + more + 1)))
        request_fail(f->error, 503, NULL, "out of memory for the request");
    if (longer) {
        memcpy(longer + *size, opening, more + 1);
        *text = longer;
        *size += more;
    }
    free(opening);
    return more == 0 || longer;
}

static void prompt_of_messages(openai_request *r, const openai_asked *q, const char *field, const openai_messages *messages,
                             const rapt_chat_options *options)
{
    char *text = NULL;
    size_t size = 0, count = 0;
    int32_t *ids = NULL;
    rapt_error err = {0};
    fields *f = q->f;
    json_t *list = openai_messages_list(messages);
    rapt_code code = list ? chat_apply_list(q->s->chat, list, r->tools.list, options, &text, &size, &err)
                          : rapt_fail(&err, RAPT_ERR_MEMORY, "out of memory");
    json_decref(list);
    const bool whole = !code && append_opening(&r->tools, &text, &size, f);
    if (whole)
        code = rapt_chat_encode(q->m->language.tokenizer, text, size, &ids, &count, &err);
    if (code)
        request_fail(f->error, reply_status(code), field, "%s: %s", field, without_folder(err.message, q->s));
    else if (whole)
        openai_prompts_set(&r->prompts, f, field, ids, count, text, size, q->m);
    free(text);
}

void openai_chat_prompt(openai_request *r, const openai_asked *q, const char *field, const openai_messages *messages)
{
    const served *s = q->s;
    fields *f = q->f;
    if (!s->chat) {
        fields_fail(f, "model", "\"%s\" has no chat template; POST /v1/completions continues texts", s->name);
        return;
    }
    fields kwargs;
    char *variables = fields_object(f, "chat_template_kwargs", &kwargs) ? json_dumps(kwargs.object, JSON_COMPACT) : NULL;
    size_t bytes = variables ? strlen(variables) : 0;
    for (size_t i = 0; i < messages->count; i++)
        bytes += MESSAGE + strlen(messages->list[i].content);
    bytes += JSON_VALUES * (messages->more_bytes + json_bytes(r->tools.list));
    const size_t memory = TEMPLATE + TEMPLATE_COPIES * bytes;
    rapt_chat_options options = rapt_chat_options_default();
    options.memory = memory;
    options.stop = exchange_stops;
    options.context = q->x;
    options.variables = variables;
    if (request_asks(q->x, ADMISSION_MAKING, memory + TOKENS * bytes, f->error, "the text of %zu messages", messages->count))
        prompt_of_messages(r, q, field, messages, &options);
    free(variables);
    fields_free(&kwargs);
}

void openai_chat_limit(openai_request *r, int64_t tokens, const app_limits *limits, const rapt_model *m)
{
    const size_t left = m->language.net->config.context - r->prompts.list[0].count, limit = limits->max_tokens;
    const size_t most = limit && limit < left ? limit : left;
    r->is_open = tokens <= 0;
    r->options.o.max_tokens = tokens > 0 ? (size_t)tokens : most ? most : 1;
}

/* Without --chat the end of a turn is a text that ends a run. */
static void chat_replay_end(replay *line, const rapt_language_model *m)
{
    size_t size = 0;
    const char *text = m->has_end_of_turn ? rapt_tokenizer_token(m->tokenizer, m->end_of_turn, &size) : NULL;
    if (text)
        replay_text(line, "--stop", text, size);
}

void openai_chat_replay(const openai_asked *q, const openai_request *r)
{
    const openai_prompt *p = &r->prompts.list[0];
    replay line = {.unfaithful = !p->same};
    replay_begin(&line, "generate", q->s);
    replay_words(&line, " --no-prompt --max-tokens %zu", r->options.o.max_tokens);
    if (r->options.constraint && !r->options.marker)
        line.unfaithful = line.unfaithful || !constraint_brackets(r->options.constraint); /* an end of turn may follow others */
    else
        chat_replay_end(&line, &q->m->language);
    line.unfaithful = line.unfaithful || r->options.marker; /* no option says so */
    openai_options_replay(&r->options, &line);
    openai_format_replay(r, &line);
    replay_prompt(&line, p->text, p->size);
    replay_end(&line, q->x);
}
