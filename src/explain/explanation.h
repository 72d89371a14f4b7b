/* explain/explanation.h: an explanation and the functions that fill it, for the files of this folder. */
#ifndef EXPLAIN_EXPLANATION_H
#define EXPLAIN_EXPLANATION_H

#include "base/arena.h"
#include "kernels/kernels.h"
#include "rapt/explain.h"
#include "rapt/observe.h"

#include <jansson.h>
#include <stdio.h>

/* Tokens that a pass reads. */
typedef struct explain_sequence {
    const char *name; /* "source", "target" (the decoder's input), "text" */
    const rapt_tokenizer *tokenizer;
    size_t count;
    int32_t *ids;     /* [count + 1], from malloc: the last one is the label of the token before it */
    char **labels;    /* [count]: "3 chat": position and token */
    char **unknown_words; /* [unknown_count]: words of the text that are <unk> here */
    size_t unknown_count;
} explain_sequence;

/* What an intermediate was computed from: names of intermediates and parameters, NULL where there are none; a factor, the eps of
 * a norm, a bound, 0 if there is none. */
typedef struct explain_source {
    const char *inputs[2], *parameters[2];
    double constant;
} explain_source;

/* The parts that the text has besides intermediates. */
typedef struct explain_parts {
    bool model, tokens, predictions, lens, loss;
} explain_parts;

#define EXPLAIN_TOP 5 /* most probable tokens of a position */

/* What is predicted after each token of the last sequence. */
typedef struct explain_predictions {
    int32_t *ids;          /* [tokens of the last sequence, top] */
    double *probabilities; /* [tokens of the last sequence, top] */
    double *nll;           /* [label_count]: -ln p of each label */
} explain_predictions;

/* The logit lens at one depth. */
typedef struct explain_depth {
    explain_predictions at;
    size_t *label_ranks, *choice_ranks; /* [label_count], [tokens of the last sequence] */
    double *choice_probabilities;       /* [tokens of the last sequence] */
} explain_depth;

struct rapt_explanation {
    const rapt_model *model; /* borrowed */
    arena memory;            /* holds everything below, unless a comment says otherwise */
    const char *model_name;
    rapt_text text;
    bool gradients;          /* with loss and gradients */
    bool strict;             /* unknown words are an error */
    bool filtered;           /* some intermediates were not asked for and are left out */
    explain_parts parts;     /* that were asked for */
    explain_sequence sequences[2]; /* source and target, or a language model's text */
    size_t sequence_count;
    char *output;            /* translation model: the words of its target; from malloc */
    rapt_text given;         /* the target as it was given; `data` NULL: the model's own greedy translation */
    char *translation;       /* ... as `rapt translate` prints it; from malloc; NULL: a target was given */
    int32_t *labels;         /* [label_count]: the id after each token of the last sequence */
    size_t label_count;      /* the last token of a text has none */
    size_t top;              /* most probable tokens of a position */
    explain_predictions own; /* the model's */
    explain_depth *lens;     /* [depths]: the logit lens */
    size_t depths;           /* 0: not asked for */
    double loss;
    const char **off;        /* [off_count]: names of the model's heads that are off */
    size_t off_count;
    rapt_intermediate *items; /* [count], from malloc */
    size_t count, capacity;
    explain_source *sources;  /* [count], from malloc: what items[i] was computed from; all NULL if it is a gradient */
    size_t source_capacity;
    bool like;                /* computed with other parameters than the model's, which came with rapt_explain_options.like */
};

/* The sequence that predicts: the target, or the text. */
const explain_sequence *explain_last(const rapt_explanation *e);
/* The axis of an intermediate as a word ("head"); "" if it has none. */
const char *explain_axis(const rapt_intermediate *x, int dim, char word[16]);
/* The sequence that an axis runs along; NULL: none. */
const explain_sequence *explain_along(const rapt_explanation *e, const rapt_intermediate *x, int dim);
/* How many elements it has. */
size_t explain_size(const rapt_intermediate *x);

/* ---- explain_text.c: formats ---------------------------------------------------------------------------------- */

/* The defaults, for the function that makes formats, and for tests, which write other members behind them. */
#define EXPLAIN_FORMAT_DEFAULTS .size = sizeof(rapt_explain_format), .width = 80, .position = -1

/* RAPT_ERR_VALUE: not made by rapt_explain_format_default. `given` may be NULL: the defaults. */
rapt_code explain_take_format(const rapt_explain_format *given, rapt_explain_format *out, rapt_error *err);

/* ---- explain_off.c: heads that are switched off --------------------------------------------------------------- */

/* Copies the names of the heads that are off in m, the model of the pass. */
rapt_code explain_keep_off(rapt_explanation *e, const rapt_model *m, rapt_error *err);
/* A line, or nothing if all heads are on. */
void explain_print_off(const rapt_explanation *e, FILE *to);
/* The member "heads_off", unless all heads are on. False: out of memory. */
bool explain_add_off(const rapt_explanation *e, json_t *o);

/* ---- explain_origin.c: names of a Hugging Face folder --------------------------------------------------------- */

enum { EXPLAIN_ORIGINS = 2 };

/* Writes the parameters that have an origin and with which an intermediate is computed, or whose gradient it is; returns their
 * number. */
size_t explain_origins(const rapt_explanation *e, const rapt_intermediate *x, const rapt_param *with[EXPLAIN_ORIGINS]);

/* ---- explain_parameters.c: parameters of the pass -------------------------------------------------------------- */

/* The parameters with which the kept intermediates were computed, as a list for the page: output matrix and tables first, then
 * in the order of computation. Embeddings and positions have only the rows that the pass used, a large output matrix only the
 * rows of tokens that the page names, unless `full`. A parameter that would make a page too large has no "values_base64". The
 * list is empty if e->like. NULL with `err` set. */
json_t *explain_parameters(const rapt_explanation *e, bool full, rapt_error *err);

/* ---- explain_input.c: texts to tokens ------------------------------------------------------------------------ */

/* Fills sequences, labels and output from e->text and e->given; a translation model's own translation is computed on tape t. */
rapt_code explain_read(rapt_explanation *e, rapt_tape *t, rapt_error *err);

/* The tokens of another explanation, whose tokenizers serve both. RAPT_ERR_VALUE: its model is of another task or size. */
rapt_code explain_read_like(rapt_explanation *e, const rapt_explanation *like, rapt_error *err);

/* ---- explain_select.c: what the patterns of names ask for ---------------------------------------------------- */

typedef struct explain_selection {
    const char *const *patterns;
    size_t count;
    bool *matched;      /* [count] */
    char **names;       /* names of all intermediates and parts, to suggest a near one */
    size_t name_count, name_capacity;
    arena memory;       /* holds `matched` and `names` */
} explain_selection;

rapt_code explain_selection_init(explain_selection *s, const rapt_explain_options *o, rapt_error *err);
void explain_selection_free(explain_selection *s);
/* Whether a pattern matches an intermediate or part of this name. */
bool explain_matches(explain_selection *s, const char *name);
/* explain_matches for a name that comes the first time: also remembers it for explain_selection_check. */
bool explain_wants(explain_selection *s, const char *name);
/* Call it after all names have come. Fails, with a near name, if a pattern matched nothing. */
rapt_code explain_selection_check(const explain_selection *s, const rapt_explain_options *o, rapt_error *err);

/* ---- explain_pass.c: the pass itself ------------------------------------------------------------------------- */

/* Counts the pass on tape t; if the options' `admit` allows it, runs it and copies what was asked for into e. */
rapt_code explain_pass(rapt_explanation *e, rapt_tape *t, explain_selection *s, const rapt_explain_options *o, rapt_error *err);

/* ---- explain_predict.c: what logits predict -------------------------------------------------------------------- */

/* Whether an observation is the logits of the model, or their softmax. */
bool explain_is_logits(const rapt_explanation *e, const rapt_observation *o);
bool explain_is_probabilities(const rapt_observation *o);
/* Fills `to` from the logits, and later the probabilities, of a pass; does nothing with other observations. */
rapt_code explain_predict(rapt_explanation *e, const kernels *k, const rapt_observation *o, explain_predictions *to,
                          rapt_error *err);
/* Empty if the position is out of range. */
rapt_explained_prediction explain_prediction(const rapt_explanation *e, const explain_predictions *of, size_t position);

/* ---- explain_lens_text.c --------------------------------------------------------------------------------------- */

/* Prints the logit lens after one position as a table of depths, in lines of at most `width` columns (0: of any length). */
rapt_code explain_lens_print(const rapt_explanation *e, size_t position, size_t width, FILE *to, rapt_error *err);

/* ---- explain_json.c ------------------------------------------------------------------------------------------ */

/* How the elements of an intermediate are written in JSON. */
typedef enum explain_values {
    EXPLAIN_STATISTICS, /* only their statistics */
    EXPLAIN_NUMBERS,    /* "values": a list */
    EXPLAIN_BASE64      /* "values_base64": page_numbers, a tenth of the memory */
} explain_values;

/* The whole as one object. NULL with `err` set. */
json_t *explain_object(const rapt_explanation *e, explain_values values, rapt_error *err);

/* ---- explain_token_json.c -------------------------------------------------------------------------------------- */

/* The text of a token. Bytes that are not UTF-8 get a name instead; ids without a text get an empty text. NULL: out of memory. */
json_t *explain_token_text(const rapt_tokenizer *k, int32_t id);
/* Adds members "id", "text" and perhaps "bytes" to o, which may be NULL. False: out of memory. */
bool explain_add_token(json_t *o, const rapt_tokenizer *k, int32_t id);
/* The most probable tokens of a prediction, and its label, which it has. NULL: out of memory. */
json_t *explain_tokens_json(const rapt_explanation *e, rapt_explained_prediction p);
json_t *explain_next_json(const rapt_explanation *e, rapt_explained_prediction p);

/* ---- explain_lens_json.c --------------------------------------------------------------------------------------- */

/* The logit lens, as a list of depths. NULL: out of memory. */
json_t *explain_lens_json(const rapt_explanation *e);
/* The logit lens as the page has it (page/lens.js), with as many tokens of each prediction as its size allows, or with `full`
 * all; an empty object: not even one. NULL: out of memory. */
json_t *explain_lens_page(const rapt_explanation *e, bool full);

/* ---- explain_heading.c: the part of the model that an intermediate belongs to -------------------------------- */

/* "Encoder block 0: Self-attention" */
void explain_heading(const rapt_explanation *e, const rapt_intermediate *x, char text[96]);

#endif
