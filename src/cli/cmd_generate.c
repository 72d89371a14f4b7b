/* cli/cmd_generate.c: `rapt generate`: options, the prompt, and text to stdout as it is generated, by a
 * rapt_generator; --at is in generate_at.c. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/cli_model.h"
#include "cli/chat_prompt.h"
#include "cli/cmd_generate.h"
#include "cli/signals.h"

#include "base/clock.h"
#include "base/file.h"
#include "decode/generate_options.h"
#include "decode/prompt.h"
#include "decode/schema/constraint.h"
#include "io/model_core.h"
#include "search/valid_text.h"
#include "text/json_text.h"
#include "text/text_in.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

#define ARGUMENTS generate_arguments

static void take_at(const cli_option *o, void *in, const char *text)
{
    generate_arguments *a = in;
    a->has_at = true;
    a->at_all = strcmp(text, "all") == 0;
    a->at = a->at_all ? 0 : option_integer(text, -OPTION_ANY, OPTION_ANY, o->name);
}

static const cli_option OPTIONS[] = {
    OPTION_TEXT("prompt", "TEXT", AT(prompt), "Prompt text, like the operand PROMPT; special tokens in it are encoded as such"),
    OPTION_TEXT("prompt-file", "FILE", AT(prompt_file), "Prompt from a file; - is standard input"),
    OPTION_FLAG("chat", AT(chat), "The prompt is a message of a user, in the chat template of the model's folder; only the reply "
                "is printed"),
    OPTION_TEXT("system", "TEXT", AT(system), "A system message before it, for --chat", .needs = "chat"),
    CHAT_OPTION_VARIABLE(AT(variables), .needs = "chat"),
    GENERATION_OPTION_MAX_TOKENS(AT(g.max_tokens), "Maximum number of new tokens (default 200)"),
    OPTION_TABLE(generation_options_rows, AT(g)),
    OPTION_LONG("samples", "N", AT(samples), 1, OPTION_ANY, "Number of independent samples, with a line ---- between them "
                "(default 1)"),
    OPTION_FLAG("no-prompt", AT(no_prompt), "Don't print the prompt before the text"),
    OPTION_TAKE("at", "POSITION", take_at, "Print next-token probabilities after this token of the prompt instead of text; "
                "counted from 0, or with -1 from its end; all: after each"),
    OPTION_LONG("top", "N", AT(top), 1, OPTION_ANY, "Number of tokens that --at prints (default 5)", .needs = "at"),
    OPTION_FLAG("json", AT(json), "Print a JSON object for each sample, when it is complete"),
    OPTION_FLAG("log-probs", AT(log_probs), "Add the ids of the new tokens to it, and the log-probability of each in nats: of "
                "the model's softmax, before any option", .needs = "json"),
    OPTION_TEXT("json-schema", "FILE", AT(schema), "Generate a JSON value that obeys the JSON schema in a file; - is standard "
                "input"),
    OPTION_FLAG("json-object", AT(json_object), "Generate a JSON object", .not_with = "json-schema"),
    OPTION_FLAG("strict", AT(strict), "A prompt that is longer than the model's context is an error"),
    OPTION_FLAG("quiet", AT(quiet), "No throughput and no warnings on stderr"),
    {0}};

static void cmd_generate_finish(void *arguments)
{
    generate_arguments *a = arguments;
    if (!!a->operand + !!a->prompt + !!a->prompt_file > 1)
        usage_error("one prompt only: as an argument, by --prompt or by --prompt-file");
    a->prompt = a->prompt ? a->prompt : a->operand;
    if (a->chat && a->has_at)
        usage_error("--at is not for --chat");
    a->no_prompt = a->no_prompt || a->chat;
    generation_options_finish(&a->g, a->samples);
}

const cli_command generate_command = {
    .options = OPTIONS, .operands = "MODEL [PROMPT]",
    .about = "Generate text from a prompt (completion) with a trained language model.",
    .notes = "The prompt and its continuation are streamed to stdout, with a newline at the end. The text ends after "
             "--max-tokens, before a --stop sequence, at the end-of-text token (<|endoftext|>), and at Ctrl-C (exit status 130). "
             "Without a prompt a new text is generated, if the model has <|endoftext|>. MODEL is a folder of rapt or of Hugging "
             "Face, or a GGUF file. For a Hugging Face folder, the defaults of --beam, of the sampling options and "
             "of --repetition-penalty come from its generation_config.json, which can also exclude and force tokens.",
    .least = 1, .missing = "MODEL", .most = 2, .takes = "a model and one prompt; quote a prompt of several words",
    .operand = {AT(model), AT(operand)}, .finish = cmd_generate_finish};

/* ---- texts ---------------------------------------------------------------------------------------------------- */

/* A text that is being generated. */
typedef struct output {
    const generate_arguments *a;
    generate_prompt prompt;
    chat_prompt chat; /* --chat: the prompt's tokens */
    uint64_t sample;
    bool begun; /* the prompt is on stdout */
} output;

/* No message here: every command reports at exit that it could not write. */
static rapt_code write_out(const char *text, size_t size)
{
    return fwrite(text, 1, size, stdout) == size && fflush(stdout) == 0 ? RAPT_OK : RAPT_ERR_IO;
}

/* Prints the separator and the prompt, before the first output of a sample. */
static rapt_code begin_text(output *out)
{
    bool echo = !out->a->no_prompt, first = !out->begun;
    out->begun = true;
    if (first && out->sample > 0 && write_out("----\n", 5))
        return RAPT_ERR_IO;
    return first && echo ? write_out(out->prompt.text, out->prompt.size) : RAPT_OK;
}

/* A rapt_text_fn. --json prints a text when it is complete. */
static rapt_code stream_text(void *context, const char *text, size_t size, rapt_error *err)
{
    (void)err;
    if (((const output *)context)->a->json)
        return RAPT_OK;
    return begin_text(context) ? RAPT_ERR_IO : write_out(text, size);
}

/* The end of a text that was streamed. */
static rapt_code end_text(output *out, rapt_code code)
{
    if ((code == RAPT_OK || code == RAPT_ERR_INTERRUPTED) && begin_text(out))
        code = RAPT_ERR_IO;
    return out->begun && write_out("\n", 1) ? RAPT_ERR_IO : code;
}

/* ---- as JSON -------------------------------------------------------------------------------------------------- */

static json_t *generated_json(const output *out, const rapt_generated *g)
{
    size_t length;
    char *valid = valid_text(out->prompt.text, out->prompt.size, &length, NULL);
    json_t *o = NULL;
    if (valid)
        o = json_pack("{s:I, s:I, s:s%, s:s%, s:I, s:I, s:s}", "sample", (json_int_t)out->sample, "seed",
                      (json_int_t)out->a->g.o.sample.seed, "prompt", valid, length, "text", g->text ? g->text : "",
                      g->text_size, "prompt_tokens", (json_int_t)g->prompt_tokens,
                      "tokens", (json_int_t)g->token_count, "end", generation_end(g->finish));
    free(valid);
    if (o && g->score != 0)
        json_object_set_new(o, "score", json_real(g->score));
    return o;
}

/* A beam search gives no log-probabilities. */
static void put_log_probs(json_t *o, const rapt_generated *g)
{
    json_t *ids = json_array(), *log_probs = json_array();
    for (size_t i = 0; i < g->token_count; i++) {
        json_array_append_new(ids, json_integer(g->tokens[i]));
        json_array_append_new(log_probs, isnan(g->log_probs[i]) ? json_null() : json_real(g->log_probs[i]));
    }
    json_object_set_new(o, "ids", ids);
    json_object_set_new(o, "log_probs", log_probs);
}

static rapt_code print_generated_json(const output *out, const rapt_generated *g, rapt_error *err)
{
    json_t *o = generated_json(out, g);
    if (o && out->a->log_probs)
        put_log_probs(o, g);
    char *line = json_text(o, 0);
    rapt_code code = line ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a text");
    if (line && (puts(line) < 0 || fflush(stdout) != 0))
        code = RAPT_ERR_IO;
    free(line);
    json_decref(o);
    return code;
}

/* ---- the command ---------------------------------------------------------------------------------------------- */

/* Generates and prints one sample; the generator is back at the end of the prompt afterwards. */
static rapt_code print_sample(rapt_generator *g, output *out, size_t *tokens, rapt_error *err)
{
    rapt_generated result = {.prompt_tokens = rapt_generator_tokens(g), .finish = RAPT_FINISH_LENGTH, .text = NULL};
    rapt_code code = RAPT_OK;
    if (out->a->g.max_tokens > 0)
        code = rapt_generator_run(g, out->sample, &result, err);
    *tokens += result.token_count;
    if (!out->a->json)
        code = end_text(out, code);
    else if ((!code || code == RAPT_ERR_INTERRUPTED) && print_generated_json(out, &result, err))
        code = RAPT_ERR_IO;
    if (!code)
        code = rapt_generator_rewind(g, result.prompt_tokens, err);
    rapt_generated_free(&result);
    return code;
}

static rapt_code print_texts(const generate_arguments *a, rapt_generator *g, output *out, rapt_error *err)
{
    size_t tokens = 0;
    double start = clock_seconds();
    if (a->g.random_seed && !a->quiet)
        fprintf(stderr, "seed %llu\n", (unsigned long long)a->g.o.sample.seed);
    signals_catch();
    rapt_code code = a->chat ? rapt_generator_begin_tokens(g, out->chat.ids, out->chat.count, err)
                             : rapt_generator_begin(g, out->prompt.text, out->prompt.size, err);
    for (long long i = 0; i < a->samples && !code; i++) {
        *out = (output){.a = a, .prompt = out->prompt, .chat = out->chat, .sample = (uint64_t)i};
        code = print_sample(g, out, &tokens, err);
    }
    double seconds = clock_seconds() - start;
    if (!a->quiet && (!code || code == RAPT_ERR_INTERRUPTED))
        fprintf(stderr, "%zu token%s in %.2f s: %.1f tokens/s\n", tokens, cli_plural(tokens), seconds,
                seconds > 0 ? (double)tokens / seconds : 0);
    return code;
}

static rapt_code read_prompt(const generate_arguments *a, char **text, generate_prompt *p, rapt_error *err)
{
    *text = NULL;
    *p = (generate_prompt){a->prompt ? a->prompt : "", a->prompt ? strlen(a->prompt) : 0};
    if (!a->prompt_file)
        return RAPT_OK;
    rapt_code code = text_in_read(a->prompt_file, CLI_MAX_TEXT, text, &p->size, err);
    p->text = *text;
    return code;
}

static rapt_code count_tokens(const rapt_model *m, const output *out, size_t *count, rapt_error *err)
{
    prompt p = {.count = out->chat.count};
    rapt_code code = out->a->chat ? RAPT_OK : prompt_encode(m, out->prompt.text, out->prompt.size, &p, err);
    *count = p.count;
    free(p.ids);
    return code;
}

/* If a prompt is longer than the context, the model sees only its end; beam search refuses it. */
static rapt_code check_context(const generate_arguments *a, const rapt_model *m, const output *out, rapt_error *err)
{
    size_t count, context = m->language.net->config.context;
    if (a->quiet && !a->strict)
        return RAPT_OK;
    rapt_code code = count_tokens(m, out, &count, err);
    if (code || count <= context)
        return code;
    if (a->strict)
        return rapt_fail(err, RAPT_ERR_VALUE, "the prompt has %zu tokens, the model's context %zu", count, context);
    if (a->has_at || generate_options_fill(m, &a->g.o).beam <= 1)
        fprintf(stderr, "rapt: warning: the prompt has %zu tokens, the model's context %zu: the model sees the last %zu\n", count,
                context, rapt_lm_visible(&m->language.net->config, count));
    return RAPT_OK;
}

/* --chat: the prompt is a message. */
static rapt_code converse(const generate_arguments *a, const rapt_chat_template *chat, const rapt_model *m, output *out,
                          rapt_error *err)
{
    const rapt_chat_message messages[] = {{"system", a->system}, {"user", out->prompt.text}};
    if (strlen(out->prompt.text) != out->prompt.size)
        return rapt_fail(err, RAPT_ERR_VALUE, "the prompt has a NUL");
    return a->system ? chat_prompt_make(chat, m, messages, 2, a->variables, &out->chat, err)
                     : chat_prompt_make(chat, m, messages + 1, 1, a->variables, &out->chat, err);
}

/* --json-schema, --json-object; NULL without `err` set: neither. */
static rapt_constraint *read_constraint(const generate_arguments *a, rapt_error *err)
{
    char *text;
    size_t size;
    if (a->json_object)
        return rapt_constraint_json_schema(CONSTRAINT_OBJECT, strlen(CONSTRAINT_OBJECT), err);
    if (!a->schema || text_in_read(a->schema, CLI_MAX_TEXT, &text, &size, err))
        return NULL;
    rapt_constraint *c = rapt_constraint_json_schema(text, size, err);
    free(text);
    return c;
}

static rapt_code generate(const generate_arguments *a, const rapt_chat_template *chat, const rapt_model *m, rapt_error *err)
{
    char *text;
    output out = {.a = a};
    rapt_generate_options o = a->g.o;
    o.chat = a->chat;
    o.on_text = stream_text;
    o.stop = signals_stop;
    o.context = &out;
    rapt_code code = read_prompt(a, &text, &out.prompt, err);
    if (code)
        return code;
    code = a->chat ? converse(a, chat, m, &out, err) : RAPT_OK;
    rapt_constraint *constraint = code ? NULL : read_constraint(a, err);
    o.constraint = constraint;
    rapt_generator *g = code || err->code ? NULL : rapt_generator_new(m, &o, err);
    rapt_constraint_free(constraint);
    code = g ? check_context(a, m, &out, err) : err->code;
    if (!code)
        code = a->has_at ? generate_at(a, g, m, out.prompt, err) : print_texts(a, g, &out, err);
    rapt_generator_free(g);
    chat_prompt_free(&out.chat);
    free(text);
    return code;
}

int cmd_generate(int argc, char **argv)
{
    generate_arguments a = {.g = {.o = rapt_generate_options_default(), .max_tokens = RAPT_GENERATE_TOKENS},
                            .samples = 1};
    rapt_error err = {0};
    options_parse(&generate_command, argc, argv, &a);
    cli_warn_threads(a.g.o.compute.threads, a.quiet);
    rapt_chat_template *chat = a.chat ? rapt_chat_template_load(a.model, &err) : NULL;
    if (err.code)
        cli_model_deeper_reason(a.model, RAPT_TASK_LANGUAGE_MODEL, &err);
    rapt_model *m = err.code ? NULL : cli_model_inference(a.model, a.g.adapter, RAPT_TASK_LANGUAGE_MODEL, &err);
    m = cli_model_without(m, &a.g.without, &err);
    if (m)
        cli_model_limit_context(m, a.g.context);
    rapt_code code = m ? generate(&a, chat, m, &err) : RAPT_ERR_IO;
    rapt_model_free(m);
    rapt_chat_template_free(chat);
    free(a.variables);
    if (code == RAPT_ERR_INTERRUPTED)
        return signals_status();
    return code && err.code ? cli_fail(&err) : code != RAPT_OK;
}
