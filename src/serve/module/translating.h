/* serve/module/translating.h: a request for translations in any dialect: the model for its languages, its texts as lines, one job
 * of the engine for all of them, and the lines as texts again.
 *
 * A text is translated line by line, as `rapt translate` does, and its translation has as many lines. The lines of a document
 * are what is between its tags. */
#ifndef SERVE_MODULE_TRANSLATING_H
#define SERVE_MODULE_TRANSLATING_H

#include "serve/module/app.h"
#include "serve/module/fields.h"
#include "serve/module/marked_texts.h"
#include "serve/module/replay.h"
#include "serve/module/reply.h"

typedef struct translating translating;

/* The differences between dialects. */
typedef struct translating_dialect {
    const char *source_field, *target_field; /* as errors name them; NULL: they name the language only */
    /* Writes the body of the response, from lines[] of all texts, a text at a time. By a
     * thread of the engine. */
    void (*body)(const translating *t, const rapt_translation *lines, reply_body *to);
    /* Sends the response itself, in parts, if the request wants parts; NULL: the dialect has no parts. */
    void (*stream)(const translating *t, const rapt_translation *lines);
    void (*fail)(exchange *x, const request_error *error); /* replies */
} translating_dialect;

struct translating {
    app *app;
    exchange *x;                /* held */
    served_set *models;         /* a reference, until the engine has the request: a job keeps its model */
    const served *model;        /* of these */
    const rapt_model *m;        /* lasts as long as the job */
    char *name, *source, *target; /* the model's, copied; languages may be NULL */
    const translating_dialect *dialect;
    rapt_translate_options options;
    const struct kept_glossary *glossary; /* a reference, whose terms are the options'; or NULL */
    rapt_glossary *terms;       /* the request's own, which are the options'; or NULL */
    size_t terms_bytes;         /* estimate of their memory */
    marked_texts marked;        /* whether the texts are documents */
    size_t count;               /* texts */
    size_t *first;              /* [count + 1]: the lines of text i are lines[first[i] .. first[i + 1] - 1] */
    size_t *characters;         /* [count]: code points of each text */
    /* For the dialects: the form of the response. */
    bool is_list, any_source, has_characters, has_soft_alignment, streams, has_usage;
    char **stops;               /* [stop_count], owned: in a dialect with stop texts, a text ends before the first of them */
    size_t stop_count;
    bool counts_tokens;         /* tokens are requested only for the log and translating_count_tokens; the response has none */
    char fingerprint[REPLAY_FINGERPRINT]; /* the model's */
};

/* NULL with *error set: out of memory. */
translating *translating_new(app *a, exchange *x, const translating_dialect *dialect, request_error *error);
/* Frees a request that was not submitted. NULL is fine. */
void translating_free(translating *t);

/* Takes a model of t->models. */
void translating_take(translating *t, const served *model, request_error *error);
/* Chooses the model from one language to another; `source` NULL or "auto": the only source language of models to `target`. Sets
 * *error if there is none, or if several fit. */
void translating_choose(translating *t, const char *source, const char *target, request_error *error);
/* Asks for the best n hypotheses of each text, with a beam that is large enough; 0: for the best one. */
void translating_n_best(translating *t, size_t n);
/* Hands `count` texts with t->options to the engine, and t itself, which then answers and frees itself: do not touch it any more.
 * If *error is set before or afterwards, t still belongs to the caller. Errors: more lines than the operator allows, an option
 * out of range. */
void translating_submit(translating *t, const char *const *texts, size_t count, request_error *error);

/* The end of a dialect's endpoint: answers an error. */
void translating_end(translating *t, exchange *x, const translating_dialect *dialect, const request_error *error);

/* ---- for translating_dialect.body -------------------------------------------------------------------------------------- */

typedef struct translating_tokens {
    size_t source, target;
} translating_tokens;

/* Tokens of all lines and their best hypotheses, if t->counts_tokens. */
translating_tokens translating_count_tokens(const translating *t, const rapt_translation *lines);
/* How many hypotheses a text has: as many as the line with the most; 1 for a document without lines. */
size_t translating_hypotheses(const translating *t, const rapt_translation *lines, size_t text);
/* Hypothesis n of a line; the last one of a line with fewer. */
const rapt_hypothesis *translating_hypothesis(const rapt_translation *line, size_t n);
/* Hypothesis n of a text: hypothesis n of each of its lines, with line feeds between, or in its tags. NULL: out of memory. */
json_t *translating_text(const translating *t, const rapt_translation *lines, size_t text, size_t n);

#endif
