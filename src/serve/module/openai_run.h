/* serve/module/openai_run.h: the texts of one request of OpenAI's dialect, from the engine to the response: whole, or as a stream
 * of server-sent events. Completions and chat say how a choice looks. */
#ifndef SERVE_MODULE_OPENAI_RUN_H
#define SERVE_MODULE_OPENAI_RUN_H

#include "serve/module/openai_logprobs.h"
#include "serve/module/openai_options.h"
#include "serve/module/openai_prompt.h"

typedef struct openai_run openai_run;

/* A choice of a response: a text that is generated. */
typedef struct openai_choice {
    openai_run *run;
    const openai_prompt *prompt;
    size_t index;
    uint64_t sample;          /* its number among the choices of its prompt */
    openai_logprobs logprobs;
    buffer text;              /* the text of a response that is not streamed */
    const char *finish;       /* "stop", "length"; NULL: it has not ended */
    bool begun;               /* a part has been sent */
    double last;              /* when its last token came; 0: no token yet */
    size_t events;            /* events sent, for a dialect that numbers them */
} openai_choice;

/* A response, for shapes that write it as a whole. */
typedef struct openai_about {
    exchange *x;
    const char *id, *model, *fingerprint;
    int64_t created;
    const struct openai_request *request;
    size_t prompt_tokens, generated_tokens, cached_tokens;
} openai_about;

/* How an endpoint writes choices. Values are the caller's; NULL: out of memory. */
typedef struct openai_shape {
    const char *id, *object, *chunk;  /* "cmpl", "text_completion", ... */
    /* Makes a whole choice, and takes over `logprobs`. */
    json_t *(*whole)(const openai_choice *c, json_t *logprobs);
    /* Makes the choice of a chunk, and takes over `logprobs`: `size` bytes of text, and why the choice ends here, or NULL. */
    json_t *(*part)(const openai_choice *c, const char *text, size_t size, json_t *logprobs, const char *finish);
    bool opens;               /* a choice begins with a chunk without text, and ends with one */
    /* For a dialect whose response is one text, not a list of choices; otherwise NULL. `response` makes it; `events` sends the
     * events for a part of its stream, and c->text has all text so far. */
    json_t *(*response)(const openai_about *about, const openai_choice *c);
    bool (*events)(const openai_about *about, openai_choice *c, const char *text, size_t size, const char *finish);
} openai_shape;

/* The parameters of a request. openai_run_start takes over the owned ones. */
typedef struct openai_request {
    const openai_shape *shape;
    openai_options options;
    openai_prompts prompts;   /* options.n choices of each */
    bool is_open;             /* the request sets no number of tokens */
    bool echo;                /* a choice begins with its prompt */
    bool has_logprobs;
    size_t top;               /* number of most probable tokens for each token */
    bool no_tools, serial_tools; /* tool_choice "none", parallel_tool_calls false: for a dialect whose response repeats them */
} openai_request;

/* Sends a request to the engine and answers it when its texts are there: adds the headers, and begins a stream. It always answers
 * in the end. `s` is one of `models`; it takes a reference to `models`. */
void openai_run_start(app *a, exchange *x, served_set *models, const served *s, openai_request *request);
void openai_request_free(openai_request *request);

#endif
