/* serve/module/openai_run.h: the texts of one request of OpenAI's dialect, from the engine to the response: whole, or as a stream
 * of server-sent events. Completions and chat say how a choice looks. */
#ifndef SERVE_MODULE_OPENAI_RUN_H
#define SERVE_MODULE_OPENAI_RUN_H

#include "rapt/engine.h"
#include "rapt/io.h"

#include "base/buffer.h"
#include "decode/continuation.h"
#include "serve/module/fields.h"
#include "serve/module/openai_options.h"
#include "text/chat/tool_reader.h"

#include <jansson.h>

/* ---- openai_prompt.c: prompts of a request as tokens of its model. */

typedef struct openai_prompt {
    int32_t *ids; /* [count], at least one */
    size_t count;
    char *text;   /* [size] and a NUL: the request's text, or the ids decoded */
    size_t size;
    bool same;    /* the text alone is encoded to these ids */
} openai_prompt;

typedef struct openai_prompts {
    openai_prompt *list; /* [count] */
    size_t count;
} openai_prompts;

/* Reads "prompt": a text, a list of texts, a list of ids, or a list of lists of ids; absent, it is an empty text, so that the
 * model begins a new text. There may be at most `most` texts, n for each prompt. Errors are left in the fields: among them a
 * prompt that is longer than the model's context, with code context_length_exceeded. */
void openai_prompts_read(openai_prompts *to, fields *f, size_t most, size_t n, const rapt_model *m);
/* Sets one prompt: it takes over the ids, and copies their text. */
void openai_prompts_set(openai_prompts *to, fields *f, const char *field, int32_t *ids, size_t count, const char *text,
                        size_t size, const rapt_model *m);
void openai_prompts_free(openai_prompts *p);

/* ---- openai_offsets.c: where tokens begin in the text of a completion, in characters: "text_offset". The text is as it is sent:
 * U+FFFD counts as the character that replaces invalid bytes, and generated tokens follow the prompt, whether it is echoed or
 * not. A token that only continues a character begins after it. */

/* `prompt` and `tokenizer` are borrowed; everything else is zero at first. */
typedef struct openai_offsets {
    const openai_prompt *prompt;
    const rapt_tokenizer *tokenizer;
    size_t bytes, characters; /* the text so far, without an unfinished character */
    text_tokens tokens;       /* tokens of the prompt, then of the whole text */
    token_text shown;
    text_stream *out;         /* NULL: no token has come yet */
    bool generated;           /* a generated token has come */
} openai_offsets;

/* The offset of the prompt's next token, which is `id`. A token that the text does not contain, such as a tokenizer's beginning
 * of a text, takes no characters. False: out of memory. */
bool openai_offsets_of_prompt(openai_offsets *o, int32_t id, size_t *offset);
/* The offset of the next generated token, which is `id`. False: out of memory. */
bool openai_offsets_of_next(openai_offsets *o, int32_t id, size_t *offset);
void openai_offsets_free(openai_offsets *o);

/* ---- openai_logprobs.c: log-probabilities of tokens as OpenAI's two endpoints print them. The numbers come from the model's
 * softmax before any option, and read back as the same doubles. */

enum { OPENAI_LOGPROBS_LISTS = 6 };

/* Lists that grow token by token. At first everything is zero except `chat` and the borrowed members of `offsets`. */
typedef struct openai_logprobs {
    bool chat;      /* {"content": [...]}; false: the lists of completions */
    json_t *lists;  /* lists of the tokens since the last openai_logprobs_take or _keep; or NULL */
    buffer kept[OPENAI_LOGPROBS_LISTS]; /* the elements of each list, as text, of the tokens that were kept */
    openai_offsets offsets;
    bool failed;    /* out of memory: they are incomplete */
    buffer text;    /* of a token */
} openai_logprobs;

/* Adds a token of the prompt or a generated token, with its most probable alternatives. A log-probability that is NaN, as the
 * first token's of a text, becomes null. */
void openai_logprobs_add(openai_logprobs *l, const rapt_generated_token *token, bool of_prompt);
/* The object for the tokens since the last call, owned by the caller; null if there are none, or if memory is exhausted. */
json_t *openai_logprobs_take(openai_logprobs *l);
/* Turns the new tokens into text, which takes a tenth of the memory, for openai_logprobs_write. Returns the bytes that it has
 * added. After a failure they are incomplete (l->failed). */
size_t openai_logprobs_keep(openai_logprobs *l);
/* Writes the object of all kept tokens, and frees it; null if there are none. */
void openai_logprobs_write(openai_logprobs *l, buffer_writer *to);
void openai_logprobs_free(openai_logprobs *l);

/* ---- openai_tools.c: tools that a reply may call */

/* Zeroed: none. */
typedef struct openai_tools {
    tool_format format;
    json_t *list;            /* as the template is given them; NULL: none */
    tool_names names;        /* in the same order; of `list` */
    const char **owned_names;
    const char *only;        /* the one that must be called; of `list` */
    bool *strict;            /* [names.count] the tool's arguments must obey */
    bool required;           /* the reply must be a call */
    bool single;             /* at most one call */
} openai_tools;

void openai_tools_free(openai_tools *t);

/* ---- openai_run.c: the texts of a request */

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
    const struct openai_request *request;
    const char *response_id;
    struct openai_calls *calls; /* openai_calls.c: calls of tools in a stream; or NULL */
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
    /* Likewise a list of choices, each for a chunk of its own, of a reply that may call tools; NULL: no such endpoint. */
    json_t *(*parts)(openai_choice *c, const char *text, size_t size, json_t *logprobs, const char *finish);
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
    openai_tools tools;
    bool no_tools, serial_tools; /* tool_choice "none", parallel_tool_calls false: for a dialect whose response repeats them */
} openai_request;

/* Sends a request to the engine and answers it when its texts are there: adds the headers, and begins a stream. It always answers
 * in the end. `s` is one of `models`; it takes a reference to `models`. */
void openai_run_start(app *a, exchange *x, served_set *models, const served *s, openai_request *request);
void openai_request_free(openai_request *request);

/* ---- openai_memory.c: the memory that a request for texts will take, before they are generated. For openai_run.c. */

/* Asks for it; `at_once`: choices that are with the engine at a time. False, with the error set, as request_asks. */
bool openai_memory_ask(exchange *x, const openai_request *r, size_t at_once, request_error *e);

#endif
