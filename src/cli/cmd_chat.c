/* cli/cmd_chat.c: `rapt chat`: a conversation with a language model: a line of standard input is a message, replies are printed
 * as they are generated. One generator has the whole conversation, so that each turn computes only the new tokens. */
#include "cli/chat_prompt.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/cli_model.h"
#include "cli/generation_options.h"
#include "cli/signals.h"

#include "base/buffer.h"
#include "base/chars.h"
#include "base/disk.h"
#include "base/terminal.h"
#include "io/model_core.h"
#include "text/json_text.h"
#include "text/line_stream.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHAT_TOKENS = 1024 };

typedef struct chat_arguments {
    const char *model, *system;
    char *variables; /* variables of the template, a JSON object, or NULL */
    generation_options g;
    bool json, quiet;
} chat_arguments;

#define ARGUMENTS chat_arguments
static const cli_option OPTIONS[] = {
    OPTION_TEXT("system", "TEXT", AT(system), "A system message at the beginning"),
    CHAT_OPTION_VARIABLE(AT(variables)),
    GENERATION_OPTION_MAX_TOKENS(AT(g.max_tokens), "Maximum number of tokens of a reply (default 1024)"),
    OPTION_TABLE(generation_options_rows, AT(g)),
    OPTION_FLAG("json", AT(json), "Print a JSON object for each reply, when it is complete"),
    OPTION_FLAG("quiet", AT(quiet), "No warnings on stderr"),
    {0}};

static void cmd_chat_finish(void *arguments)
{
    chat_arguments *a = arguments;
    if (a->g.max_tokens == 0)
        usage_error("--max-tokens: a reply has at least one token");
    generation_options_finish(&a->g, 1);
}

const cli_command chat_command = {
    .options = OPTIONS, .operands = "MODEL",
    .about = "Converse with a language model whose folder, or GGUF file, has a chat template.",
    .notes = "Each line of standard input is a message; the reply is streamed to stdout, with a newline at the end. The line "
             "/reset begins another conversation, Ctrl-C ends a reply, the end of the input (Ctrl-D) the command. The defaults "
             "of --beam, of the sampling options and of --repetition-penalty come from the folder's generation_config.json.",
    .least = 1, .missing = "MODEL", .most = 1, .takes = "a model; messages come from standard input", .operand = {AT(model)},
    .finish = cmd_chat_finish};

/* The messages so far, and the tokens of them that the generator has seen. */
typedef struct conversation {
    const chat_arguments *a;
    const rapt_chat_template *chat;
    const rapt_model *m;
    rapt_generator *g;
    rapt_chat_message *messages; /* contents are owned */
    size_t count, capacity;
    int32_t *seen; /* tokens of the generator's text */
    size_t seen_count, seen_capacity;
} conversation;

/* ---- messages ------------------------------------------------------------------------------------------------------ */

static rapt_code chat_say(conversation *c, const char *role, const char *content, rapt_error *err)
{
    char *copy = chars_copy(content);
    if (!copy || !ARRAY_RESERVE(&c->messages, &c->capacity, c->count + 1)) {
        free(copy);
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a conversation");
    }
    c->messages[c->count++] = (rapt_chat_message){role, copy};
    return RAPT_OK;
}

/* Forgets all messages except the system message. The generator's tokens stay: their beginning may be needed again. */
static rapt_code chat_restart(conversation *c, rapt_error *err)
{
    while (c->count > 0)
        free((char *)c->messages[--c->count].content);
    return c->a->system ? chat_say(c, "system", c->a->system, err) : RAPT_OK;
}

/* ---- a turn -------------------------------------------------------------------------------------------------------- */

static rapt_code chat_see(conversation *c, size_t from, const int32_t *ids, size_t count, rapt_error *err)
{
    if (!ARRAY_RESERVE(&c->seen, &c->seen_capacity, from + count))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a conversation");
    if (count > 0)
        memcpy(c->seen + from, ids, count * sizeof *ids);
    c->seen_count = from + count;
    return RAPT_OK;
}

/* The generator's text becomes the prompt: the tokens that both begin with stay, with their keys and values. */
static rapt_code chat_prepare(conversation *c, const chat_prompt *p, size_t *reused, rapt_error *err)
{
    size_t same = 0, context = c->m->language.net->config.context;
    while (same < p->count && same < c->seen_count && p->ids[same] == c->seen[same])
        same++;
    *reused = same;
    if (p->count > context && !c->a->quiet)
        fprintf(stderr, "rapt: warning: the conversation has %zu tokens, the model's context %zu: the model sees the last %zu\n",
                p->count, context, rapt_lm_visible(&c->m->language.net->config, p->count));
    rapt_code code = same == 0 ? rapt_generator_begin_tokens(c->g, p->ids, p->count, err)
                               : rapt_generator_rewind(c->g, same, err);
    if (!code && same > 0 && same < p->count)
        code = rapt_generator_append_tokens(c->g, p->ids + same, p->count - same, err);
    return code ? code : chat_see(c, same, p->ids + same, p->count - same, err);
}

/* A rapt_text_fn. */
static rapt_code chat_stream(void *context, const char *text, size_t size, rapt_error *err)
{
    (void)err;
    if (((const chat_arguments *)context)->json)
        return RAPT_OK;
    return fwrite(text, 1, size, stdout) == size && fflush(stdout) == 0 ? RAPT_OK : RAPT_ERR_IO;
}

static rapt_code chat_print_json(const conversation *c, const rapt_generated *r, size_t reused, rapt_error *err)
{
    json_t *o = json_pack("{s:I, s:s%, s:I, s:I, s:I, s:s}", "seed", (json_int_t)c->a->g.o.sample.seed, "reply",
                          r->text ? r->text : "",
                          r->text_size, "prompt_tokens", (json_int_t)r->prompt_tokens, "reused_tokens", (json_int_t)reused,
                          "tokens", (json_int_t)r->token_count, "end", generation_end(r->finish));
    char *line = json_text(o, 0);
    rapt_code code = line ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a reply");
    if (line && (puts(line) < 0 || fflush(stdout) != 0))
        code = RAPT_ERR_IO;
    free(line);
    json_decref(o);
    return code;
}

/* Generates and prints a reply to the messages. A reply that Ctrl-C ended is a message as well. */
static rapt_code chat_reply(conversation *c, rapt_error *err)
{
    rapt_error why = {0};
    rapt_generated r = {0};
    chat_prompt p;
    size_t reused = 0;
    rapt_code code = chat_prompt_make(c->chat, c->m, c->messages, c->count, c->a->variables, &p, err);
    code = code ? code : chat_prepare(c, &p, &reused, err);
    chat_prompt_free(&p);
    if (code)
        return code;
    signals_catch_turn();
    code = rapt_generator_run(c->g, 0, &r, &why);
    signals_release();
    if (code == RAPT_ERR_INTERRUPTED)
        code = RAPT_OK;
    if (!code && c->a->json)
        code = chat_print_json(c, &r, reused, &why);
    else if (!code && (putchar('\n') == EOF || fflush(stdout) != 0))
        code = RAPT_ERR_IO;
    code = code ? code : chat_see(c, c->seen_count, r.tokens, r.token_count, &why);
    code = code ? code : chat_say(c, "assistant", r.text ? r.text : "", &why);
    rapt_generated_free(&r);
    return code && why.code ? rapt_fail(err, code, "%s", why.message) : code;
}

/* ---- the command --------------------------------------------------------------------------------------------------- */

static rapt_code chat_loop(conversation *c, line_stream *in, rapt_error *err)
{
    bool asks = terminal_is(DISK_IN) && terminal_is(DISK_ERROR);
    rapt_code code = chat_restart(c, err);
    while (!code) {
        line_block block;
        if (asks)
            fprintf(stderr, "> ");
        code = line_stream_next(in, 1, &block, err);
        if (code || block.count == 0)
            break;
        if (strcmp(block.line[0].data, "/reset") == 0) {
            code = chat_restart(c, err);
        } else if (block.line[0].size > 0) {
            code = chat_say(c, "user", block.line[0].data, err);
            code = code ? code : chat_reply(c, err);
        }
    }
    if (asks)
        fprintf(stderr, "\n");
    return code;
}

static rapt_code chat_run(const chat_arguments *a, const rapt_chat_template *chat, const rapt_model *m, rapt_error *err)
{
    conversation c = {.a = a, .chat = chat, .m = m};
    rapt_generate_options o = a->g.o;
    o.chat = true;
    o.on_text = chat_stream;
    o.stop = signals_stop;
    o.context = (void *)a;
    if (a->g.random_seed && !a->quiet)
        fprintf(stderr, "seed %llu\n", (unsigned long long)a->g.o.sample.seed);
    line_stream *in = line_stream_open("-", err);
    c.g = in ? rapt_generator_new(m, &o, err) : NULL;
    rapt_code code = c.g ? chat_loop(&c, in, err) : err->code;
    rapt_generator_free(c.g);
    line_stream_free(in);
    while (c.count > 0)
        free((char *)c.messages[--c.count].content);
    free(c.messages);
    free(c.seen);
    return code;
}

int cmd_chat(int argc, char **argv)
{
    chat_arguments a = {.g = {.o = rapt_generate_options_default(), .max_tokens = CHAT_TOKENS}};
    rapt_error err = {0};
    options_parse(&chat_command, argc, argv, &a);
    cli_warn_threads(a.g.o.compute.threads, a.quiet);
    rapt_chat_template *chat = rapt_chat_template_load(a.model, &err);
    if (!chat)
        cli_model_deeper_reason(a.model, RAPT_TASK_LANGUAGE_MODEL, &err);
    rapt_model *m = chat ? cli_model_inference(a.model, a.g.adapter, RAPT_TASK_LANGUAGE_MODEL, &err) : NULL;
    m = cli_model_without(m, &a.g.without, &err);
    if (m)
        cli_model_limit_context(m, a.g.context);
    rapt_code code = m ? chat_run(&a, chat, m, &err) : RAPT_ERR_IO;
    rapt_model_free(m);
    rapt_chat_template_free(chat);
    free(a.variables);
    return code && err.code ? cli_fail(&err) : code != RAPT_OK;
}
