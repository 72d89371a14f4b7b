/* serve/serve.h: a server of models. For `rapt serve`. */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include "rapt/tape.h"

/* A model to serve. Fields that are 0 or NULL, except name and path, are as in the options for all models. */
typedef struct serve_model {
    char *name, *path;
    char *source, *target; /* languages of a translation model; NULL: from a name such as "en-fr" */
    char *weights;         /* a list of types, as rapt_compute.weights */
    rapt_type precision;
    rapt_type kv_cache;
    bool has_precision, has_kv_cache; /* it has its own */
    size_t slots, kv_memory;
} serve_model;

typedef enum serve_log { SERVE_LOG_JSON, SERVE_LOG_TEXT, SERVE_LOG_NONE } serve_log;

typedef struct serve_list {
    char **at; /* [count] */
    size_t count, capacity;
} serve_list;

/* Begins as serve_options_default. All texts are owned. */
typedef struct serve_options {
    serve_model *models; /* [model_count] */
    size_t model_count, model_capacity;
    char *host;          /* "127.0.0.1", or "unix:PATH" */
    size_t port;         /* 0: any */
    size_t socket_mode;  /* permissions of a unix socket; 0: those that the umask leaves */
    /* engine */
    size_t threads;      /* 0: RAPT_THREADS, or without it the CPUs that this process may use */
    serve_model all;     /* the options of models that have no own ones; its name, path and languages are not used */
    size_t batch, chunk; /* as in rapt_engine_model_options */
    bool no_prefix_cache;
    /* limits of requests */
    size_t queue, texts, max_tokens, n, explain, body, request_memory; /* as in app_limits */
    bool no_explain, no_replay;
    /* connections */
    size_t connections, per_address; /* open connections; open connections of one address, 0: the same number */
    double header_timeout, request_timeout, idle_timeout, send_timeout, drain; /* seconds */
    char *api_key_file, *tls_cert, *tls_key; /* files, or NULL */
    char *lesson;        /* the file of the lesson's page, "none", or NULL: the installed one */
    serve_list cors;     /* origins whose pages may call, "*": all */
    serve_list hosts;    /* names of this server besides the ones that site.h knows; "*": all */
    serve_list proxies;  /* addresses whose X-Forwarded-For counts, or "unix" */
    serve_log log;
} serve_options;

/* False: out of memory. */
bool serve_options_default(serve_options *o);
void serve_options_free(serve_options *o);

/* Reads the options again if they come from a file. The reader owns the result, which lasts as long as the server. NULL with
 * `err` set. */
typedef struct serve_reader {
    const serve_options *(*read)(void *context, rapt_error *err);
    void *context;
} serve_reader;

/* Loads the models, prints "listening on http://127.0.0.1:8080" to stdout, and serves until SIGTERM or SIGINT; then running
 * requests are finished. A second such signal ends the process. SIGHUP loads models and keys again: the ones in the options from
 * `again`, whose other options have no effect, or if `again` is NULL, the same ones. Errors: from a model, the address, the
 * files; RAPT_ERR_NOT_FOUND: this build has no server. */
RAPT_API rapt_code serve_run(const serve_options *options, const serve_reader *again, rapt_error *err);

/* Asks a running server for /health: at the options' host and port, with TLS if they have a certificate. The certificate is not
 * verified, because it may be for another name. RAPT_ERR_IO: no answer, or not 200; RAPT_ERR_NOT_FOUND: as in serve_run, or this
 * build has no TLS. */
RAPT_API rapt_code serve_check(const serve_options *options, rapt_error *err);

/* The version of libmicrohttpd if the server is within this program; NULL: it is in a module, or there is none. */
const char *serve_http_version(void);

#endif
