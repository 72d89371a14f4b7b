/* cli/cmd_serve.c: `rapt serve`: options of a server, from the command line and a file. The server is in src/serve. */
#include "cli/cli.h"
#include "cli/commands.h"

#include "base/buffer.h"
#include "base/quote.h"
#include "serve/serve_config.h"
#include "serve/serve_keys.h"

#include <stdio.h>
#include <string.h>

enum { MESSAGE = SERVE_REASON + 128 };

typedef struct served_option {
    const char *name, *text;
} served_option;

/* Options of a later SIGHUP. */
typedef struct read_options {
    serve_options o;
    struct read_options *next;
} read_options;

typedef struct serve_arguments {
    serve_options o;
    read_options *again;
    const char *config;
    char **models; /* [model_count], within argv */
    served_option *given;
    size_t given_count, given_capacity, model_count;
    bool check;
} serve_arguments;

/* Options are set after the file's, which may be read again. */
static void remember_option(const cli_option *o, void *in, const char *text)
{
    serve_arguments *a = in;
    if (!ARRAY_RESERVE(&a->given, &a->given_capacity, a->given_count + 1))
        usage_error("out of memory");
    a->given[a->given_count++] = (served_option){o->name, text ? text : "true"};
}

/* An option that serve_keys.h knows by the same name, with its range. */
#define SERVED(name, argument, ...) OPTION_TAKE(name, argument, remember_option, __VA_ARGS__)
#define ARGUMENTS serve_arguments
static const cli_option OPTIONS[] = {
    OPTION_TEXT("config", "FILE", AT(config), "Options from a YAML file: their names as keys, and models (NAME: MODEL); the "
                "command line takes precedence"),
    OPTION_FLAG("check", AT(check), "Serve nothing: ask the server at --host and --port for /health; exit status 0: it is "
                "healthy"),
    OPTION_HEADING("Where to listen"),
    SERVED("host", "HOST", "Address to listen on (default 127.0.0.1: this machine only), or unix:PATH for a unix socket"),
    SERVED("port", "N", "Port (default 8080); 0: any, which is printed"),
    SERVED("socket-mode", "MODE", "Permissions of a unix socket, such as 0660 (default: what the umask leaves)"),
    SERVED("tls-cert", "FILE", "Certificate (PEM), for TLS; off by default"),
    SERVED("tls-key", "FILE", "Its private key (PEM)"),
    OPTION_HEADING("Models"),
    SERVED("threads", "N", "Number of threads (default: RAPT_THREADS, else all CPUs); the result is the same"),
    SERVED("precision", "P", CLI_PRECISION, .words = "fp32, bf16", .not_with = "weights"),
    SERVED("weights", "T", CLI_WEIGHTS, .words = CLI_WEIGHT_TYPES),
    SERVED("kv-cache", "T", CLI_KV_CACHE, .words = "fp32, bf16, q8_0"),
    SERVED("slots", "N", "Texts that a language model generates at the same time (default 8)"),
    SERVED("kv-memory", "SIZE", "Memory for keys and values of a language model, such as 2GiB (default: enough for --slots "
                               "texts of the whole context)"),
    SERVED("chunk", "N", "Tokens of prompts in a step of a language model (default: as many as its speed allows); the result "
           "does not depend on it"),
    SERVED("no-prefix-cache", NULL, "Compute prompts from their beginning always; the result is the same"),
    SERVED("batch", "N", "Sentences that are translated together (default 64); the result does not depend on it"),
    OPTION_HEADING("Who may ask, and how much"),
    SERVED("api-key-file", "FILE", "Ask for an API key: one of the lines of FILE"),
    SERVED("cors", "ORIGIN", "Web pages of ORIGIN (https://example.org; *: of any) may call; can be repeated"),
    SERVED("allowed-host", "NAME", "Also answer requests with NAME in Host (*: any); otherwise Host must be localhost or an "
                                  "address, so that pages of other sites cannot get in by their own name (DNS rebinding); can "
                                  "be repeated"),
    SERVED("trusted-proxy", "ADDRESS", "The client's address is what X-Forwarded-For of ADDRESS says (unix: of the socket); can "
                                      "be repeated"),
    SERVED("queue", "N", "Requests that run or wait (default 256); beyond them 503"),
    SERVED("connections", "N", "Connections at once (default 1000); beyond them 503"),
    SERVED("per-address", "N", "Connections of one address at once (default: no limit); beyond them 429"),
    SERVED("max-body", "SIZE", "Bytes of a request (default 1MiB); beyond them 413"),
    SERVED("request-memory", "SIZE", "Memory that one may be expected to take (default 128MiB); beyond it 413"),
    SERVED("max-texts", "N", "Texts of a request (default 10000)"),
    SERVED("max-tokens", "N", "Tokens that a request may ask for, at most the model's context (the default)"),
    SERVED("max-n", "N", "Choices or hypotheses of a request (default 32)"),
    SERVED("max-explain", "N", "Tokens of a text that is explained (default 128)"),
    SERVED("no-explain", NULL, "Don't explain"),
    SERVED("no-replay", NULL, "Don't say in X-Rapt-Replay which command prints the same text"),
    SERVED("lesson", "FILE", "The page that /learn gives, as tools/lesson.sh makes it (default: the one that is installed with "
                             "rapt, if any); none: no page"),
    OPTION_HEADING("Times, in seconds, and the log"),
    SERVED("header-timeout", "S", "For the header of a request (default 10)"),
    SERVED("request-timeout", "S", "For its body (default 60)"),
    SERVED("idle-timeout", "S", "Between two requests of a connection (default 60)"),
    SERVED("send-timeout", "S", "For a client to read its response (default 60)"),
    SERVED("drain", "S", "For running requests, after SIGTERM (default 30)"),
    SERVED("log", "FORMAT", "A line on stderr for each request, without texts and keys: json (default), text, or none",
           .words = "json, text, none"),
    {0}};

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
        const served_option *g = &a->given[i];
        if ((code = serve_keys_set(o, g->name, g->text, reason)))
            snprintf(message, MESSAGE, "--%s: %s", g->name, code == RAPT_ERR_MEMORY ? "out of memory" : reason);
    }
    for (size_t i = 0; i < a->model_count && !code; i++)
        code = add_operand(o, a->models[i], message);
    if (!code && !a->check && (code = serve_keys_finish(o, reason)))
        snprintf(message, MESSAGE, "%s", o->model_count ? reason : "missing operand: MODEL");
    return code;
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

static void cmd_serve_finish(void *arguments)
{
    serve_arguments *a = arguments;
    char message[MESSAGE];
    rapt_error err = {0};
    a->models = options_operands(&a->model_count);
    if (a->config && serve_config_read(&a->o, a->config, &err)) {
        cli_fail(&err);
        exit(err.code == RAPT_ERR_VALUE || err.code == RAPT_ERR_FORMAT ? USAGE_STATUS : 1);
    }
    if (add_command_line(a, &a->o, message))
        usage_error("%s", message);
    if (options_given("threads"))
        cli_warn_threads((int)a->o.threads, false);
}

const cli_command serve_command = {
    .options = OPTIONS, .operands = "[NAME=]MODEL...",
    .about = "Serve models over HTTP: responses have the same bytes as `rapt translate` and `rapt generate`, with any other "
             "requests at the same time.",
    .notes = "MODEL is a folder of rapt or of Hugging Face, or a GGUF file. Requests call it NAME, or without that by the "
             "folder's name; a NAME such as en-fr gives the languages of a translation model. Prints `listening on URL` when it "
             "accepts requests. SIGTERM and SIGINT finish running requests, a second signal ends the server immediately; SIGHUP "
             "reads --config again, for its models and keys, and loads them, all or none. A socket of systemd (LISTEN_FDS) takes "
             "precedence over --host and --port. Endpoints: /v1/completions and others of OpenAI's, /translate of "
             "LibreTranslate, /v2/translate of DeepL, /v1/translate, /v1/explain, a page at /, the lesson at /learn, /health, "
             "/metrics, /openapi.json.",
    .finish = cmd_serve_finish};

int cmd_serve(int argc, char **argv)
{
    serve_arguments a = {0};
    rapt_error err = {0};
    if (!serve_options_default(&a.o))
        return 1;
    options_parse(&serve_command, argc, argv, &a);
    const serve_reader again = {read_again, &a};
    rapt_code code = a.check ? serve_check(&a.o, &err) : serve_run(&a.o, a.config ? &again : NULL, &err);
    serve_options_free(&a.o);
    free_again(&a);
    free(a.given);
    return code ? cli_fail(&err) : 0;
}
