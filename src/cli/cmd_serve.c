/* cli/cmd_serve.c: `rapt serve`: options of a server, from the command line and a file. The server is in src/serve. */
#define _GNU_SOURCE /* strndup */
#include "cli/cli.h"

#include "base/buffer.h"
#include "base/quote.h"
#include "serve/serve_config.h"
#include "serve/serve_keys.h"

#include <stdio.h>
#include <string.h>

/* KEY_OPTION + its place in OPTIONS is the key of an option that serve_keys.h knows by the same name. */
enum { KEY_CONFIG = 256, KEY_CHECK, KEY_OPTION };
enum { MESSAGE = SERVE_REASON + 128 };

#define PLAIN(name, argument, text) {name, KEY_OPTION, argument, 0, text, 0}

/* argp tells options apart by their keys, which cmd_serve_number sets. */
static struct argp_option OPTIONS[] = {
    {"config", KEY_CONFIG, "FILE", 0, "Options from a YAML file: their names as keys, and models (NAME: MODEL); the command "
                                      "line takes precedence", 0},
    {"check", KEY_CHECK, NULL, 0, "Serve nothing: ask the server at --host and --port for /health; exit status 0: it is "
                                    "healthy", 0},
    {NULL, 0, NULL, 0, "Where to listen", 1},
    PLAIN("host", "HOST", "Address to listen on (default 127.0.0.1: this machine only), or unix:PATH for a unix socket"),
    PLAIN("port", "N", "Port (default 8080); 0: any, which is printed"),
    PLAIN("socket-mode", "MODE", "Permissions of a unix socket, such as 0660 (default: what the umask leaves)"),
    PLAIN("tls-cert", "FILE", "Certificate (PEM), for TLS; off by default"),
    PLAIN("tls-key", "FILE", "Its private key (PEM)"),
    {NULL, 0, NULL, 0, "Models", 2},
    CLI_OPTION_THREADS,
    CLI_OPTION_PRECISION("Matmul precision: fp32 (default) or bf16"),
    CLI_OPTION_WEIGHTS,
    CLI_OPTION_KV_CACHE,
    PLAIN("slots", "N", "Texts that a language model generates at the same time (default 8)"),
    PLAIN("kv-memory", "SIZE", "Memory for keys and values of a language model, such as 2GiB (default: enough for --slots "
                               "texts of the whole context)"),
    PLAIN("chunk", "N", "Tokens of prompts in a step of a language model (default: as many as its speed allows); the result does "
                        "not depend on it"),
    PLAIN("no-prefix-cache", NULL, "Compute prompts from their beginning always; the result is the same"),
    PLAIN("batch", "N", "Sentences that are translated together (default 64); the result does not depend on it"),
    {NULL, 0, NULL, 0, "Who may ask, and how much", 3},
    PLAIN("api-key-file", "FILE", "Ask for an API key: one of the lines of FILE"),
    PLAIN("cors", "ORIGIN", "Web pages of ORIGIN (https://example.org; *: of any) may call; can be repeated"),
    PLAIN("allowed-host", "NAME", "Also answer requests with NAME in Host (*: any); otherwise Host must be localhost or an "
                                  "address, so that pages of other sites cannot get in by their own name (DNS rebinding); can "
                                  "be repeated"),
    PLAIN("trusted-proxy", "ADDRESS", "The client's address is what X-Forwarded-For of ADDRESS says (unix: of the socket); can "
                                      "be repeated"),
    PLAIN("queue", "N", "Requests that run or wait (default 256); beyond them 503"),
    PLAIN("connections", "N", "Connections at once (default 1000); beyond them 503"),
    PLAIN("per-address", "N", "Connections of one address at once (default: no limit); beyond them 429"),
    PLAIN("max-body", "SIZE", "Bytes of a request (default 1MiB); beyond them 413"),
    PLAIN("request-memory", "SIZE", "Memory that one may be expected to take (default 128MiB); beyond it 413"),
    PLAIN("max-texts", "N", "Texts of a request (default 10000)"),
    PLAIN("max-tokens", "N", "Tokens that a request may ask for, at most the model's context (the default)"),
    PLAIN("max-n", "N", "Choices or hypotheses of a request (default 32)"),
    PLAIN("max-explain", "N", "Tokens of a text that is explained (default 128)"),
    PLAIN("no-explain", NULL, "Don't explain"),
    PLAIN("no-replay", NULL, "Don't say in X-Rapt-Replay which command prints the same text"),
    {NULL, 0, NULL, 0, "Times, in seconds, and the log", 4},
    PLAIN("header-timeout", "S", "For the header of a request (default 10)"),
    PLAIN("request-timeout", "S", "For its body (default 60)"),
    PLAIN("idle-timeout", "S", "Between two requests of a connection (default 60)"),
    PLAIN("send-timeout", "S", "For a client to read its response (default 60)"),
    PLAIN("drain", "S", "For running requests, after SIGTERM (default 30)"),
    PLAIN("log", "FORMAT", "A line on stderr for each request, without texts and keys: json (default), text, or none"),
    {0}};

typedef struct given_option {
    const char *name, *text;
} given_option;

/* Options of a later SIGHUP. */
typedef struct read_options {
    serve_options o;
    struct read_options *next;
} read_options;

typedef struct serve_arguments {
    serve_options o;
    read_options *again;
    const char *config, **models;
    given_option *given;
    size_t given_count, given_capacity, model_count, model_capacity;
    bool check;
} serve_arguments;

static void cmd_serve_number(void)
{
    int next = KEY_OPTION;
    for (struct argp_option *option = OPTIONS; option->name || option->doc; option++)
        if (option->key == KEY_OPTION)
            option->key = next++;
}

static const char *option_name(int key)
{
    for (const struct argp_option *option = OPTIONS; option->name || option->doc; option++)
        if (option->name && option->key == key)
            return option->name;
    return NULL;
}

static void remember_option(serve_arguments *a, const char *name, const char *text, const struct argp_state *state)
{
    if (!ARRAY_RESERVE(&a->given, &a->given_capacity, a->given_count + 1))
        cli_usage_error(state, "out of memory");
    a->given[a->given_count++] = (given_option){name, text ? text : "true"};
}

/* NAME=MODEL, or MODEL, which gets the name of its folder. */
static rapt_code add_operand(serve_options *o, const char *text, char message[MESSAGE])
{
    char reason[SERVE_REASON], name[80] = "";
    serve_model *m;
    const char *equals = strchr(text, '='), *slash = strchr(text, '/'), *path = text;
    if (equals && (!slash || equals < slash)) {
        snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
        path = equals + 1;
    } else {
        size_t end = strlen(text);
        while (end > 1 && text[end - 1] == '/')
            end--;
        size_t begin = end;
        while (begin > 0 && text[begin - 1] != '/')
            begin--;
        snprintf(name, sizeof name, "%.*s", (int)(end - begin), text + begin);
    }
    rapt_code code = serve_keys_add_model(o, name, path, &m, reason);
    if (code)
        snprintf(message, MESSAGE, "%s: %s", quote(text).text, code == RAPT_ERR_MEMORY ? "out of memory" : reason);
    return code;
}

/* Adds options and models of the command line, after those in the file: the command line overrides the file. */
static rapt_code add_command_line(const serve_arguments *a, serve_options *o, char message[MESSAGE])
{
    char reason[SERVE_REASON];
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < a->given_count && !code; i++) {
        const given_option *g = &a->given[i];
        if ((code = serve_keys_set(o, g->name, g->text, reason)))
            snprintf(message, MESSAGE, "--%s: %s", g->name, code == RAPT_ERR_MEMORY ? "out of memory" : reason);
    }
    for (size_t i = 0; i < a->model_count && !code; i++)
        code = add_operand(o, a->models[i], message);
    if (!code && !a->check && (code = serve_keys_finish(o, reason)))
        snprintf(message, MESSAGE, "%s", o->model_count ? reason : "missing operand: MODEL");
    return code;
}

static void cmd_serve_finish(serve_arguments *a, const struct argp_state *state)
{
    char message[MESSAGE];
    rapt_error err = {0};
    if (a->config && serve_config_read(&a->o, a->config, &err)) {
        cli_fail(&err);
        exit(err.code == RAPT_ERR_VALUE || err.code == RAPT_ERR_FORMAT ? 2 : 1);
    }
    if (add_command_line(a, &a->o, message))
        cli_usage_error(state, "%s", message);
}

/* A serve_reader: the file as it is now, and the same command line. */
static const serve_options *read_again(void *arguments, rapt_error *err)
{
    serve_arguments *a = arguments;
    char message[MESSAGE];
    read_options *r = calloc(1, sizeof *r);
    if (!r || !serve_options_default(&r->o)) {
        free(r);
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory");
        return NULL;
    }
    r->next = a->again;
    a->again = r;
    rapt_code code = serve_config_read(&r->o, a->config, err);
    if (!code && (code = add_command_line(a, &r->o, message)))
        rapt_fail(err, code, "%s", message);
    return code ? NULL : &r->o;
}

static void free_again(serve_arguments *a)
{
    while (a->again) {
        read_options *next = a->again->next;
        serve_options_free(&a->again->o);
        free(a->again);
        a->again = next;
    }
}

static error_t cmd_serve_parse(int key, char *text, struct argp_state *state)
{
    serve_arguments *a = state->input;
    switch (key) {
    case KEY_CONFIG: a->config = text; return 0;
    case KEY_CHECK: a->check = true; return 0;
    case CLI_KEY_PRECISION: cli_precision(text, state); break;
    case CLI_KEY_WEIGHTS: cli_weights(text, &(rapt_precision){0}, state); break;
    case CLI_KEY_THREADS: cli_warn_threads(cli_threads(text, state), false); break;
    case ARGP_KEY_ARG:
        if (!ARRAY_RESERVE(&a->models, &a->model_capacity, a->model_count + 1))
            cli_usage_error(state, "out of memory");
        a->models[a->model_count++] = text;
        return 0;
    case ARGP_KEY_END: cmd_serve_finish(a, state); return 0;
    default:
        if (key < KEY_OPTION)
            return ARGP_ERR_UNKNOWN;
    }
    const char *name = option_name(key);
    if (!name)
        return ARGP_ERR_UNKNOWN;
    remember_option(a, name, text, state);
    return 0;
}

static const struct argp ARGP = {
    .options = OPTIONS, .parser = cmd_serve_parse, .args_doc = "[NAME=]MODEL...",
    .doc = "Serve models over HTTP: responses have the same bytes as `rapt translate` and `rapt generate`, with any other "
           "requests at the same time."
           "\vMODEL is a folder of rapt or of Hugging Face, or a GGUF file. Requests call it NAME, or without that by the "
           "folder's name; a NAME such as en-fr gives the languages of a translation model. Prints `listening on URL` when it "
           "accepts requests. SIGTERM and SIGINT finish running requests, a second signal ends the server immediately; SIGHUP "
           "reads --config again, for its models and keys, and loads them, all or none. A socket of systemd (LISTEN_FDS) takes "
           "precedence over --host and --port. Endpoints: /v1/completions and others of OpenAI's, /translate of "
           "LibreTranslate, /v2/translate of DeepL, /v1/translate, /v1/explain, a page at /, /health, /metrics, /openapi.json."};

int cmd_serve(int argc, char **argv)
{
    serve_arguments a = {0};
    rapt_error err = {0};
    if (!serve_options_default(&a.o))
        return 1;
    cmd_serve_number();
    cli_parse(&ARGP, argc, argv, &a);
    const serve_reader again = {read_again, &a};
    rapt_code code = a.check ? serve_check(&a.o, &err) : serve_run(&a.o, a.config ? &again : NULL, &err);
    serve_options_free(&a.o);
    free_again(&a);
    free(a.given);
    free(a.models);
    return code ? cli_fail(&err) : 0;
}
