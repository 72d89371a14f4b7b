/* cli/explain/cmd_explain.h: what the files of `rapt explain` share: options, the tokens of a pass, and where its steps go. */
#ifndef CLI_EXPLAIN_CMD_EXPLAIN_H
#define CLI_EXPLAIN_CMD_EXPLAIN_H

#include "rapt/io.h"
#include "rapt/observe.h"

#include <jansson.h>
#include <stdio.h>

#define EXPLAIN_MAX_ONLY 64
#define EXPLAIN_TOP 5 /* likeliest tokens of a position */

typedef struct explain_arguments {
    const char *model, *text, *target, *html;
    const char *operand; /* a target that stands after the text */
    const char *only[EXPLAIN_MAX_ONLY]; /* patterns of names; none: everything */
    size_t only_count, width;           /* of a line of a table */
    bool train, full, table, json, has_at, at_all, colour;
    long at;
    int threads;
} explain_arguments;

/* Tokens that a pass reads. */
typedef struct explain_sequence {
    const char *name; /* "source", "target" (the decoder's input), "text" */
    const rapt_tokenizer *tokenizer;
    size_t count;
    int32_t *ids;
    char **labels;    /* "3 chat": position and token */
} explain_sequence;

/* What is found out about one text. */
typedef struct explanation {
    const explain_arguments *a;
    const rapt_model *m;
    rapt_tape *t;
    explain_sequence sequences[2]; /* source and target, or a language model's text */
    size_t sequence_count;
    char *output;           /* of a translation model: the words of its target */
    char *translation;      /* what it found itself, as `rapt translate` prints it; NULL: a target was given */
    int32_t *labels;        /* what follows each token of the last sequence, in its ids */
    size_t label_count;     /* the last token of a text has none */
    double *nll;            /* [label_count]: -ln p of each label */
    int32_t *likeliest;     /* [tokens of the last sequence, top] */
    double *probabilities;  /* the same */
    size_t top, position;   /* --at */
    double loss;
    char **names;           /* of all steps, once each, to tell a near one */
    size_t name_count, name_room;
    bool matched[EXPLAIN_MAX_ONLY];
    FILE *text;             /* NULL: no text is wanted */
    json_t *steps;          /* NULL: no JSON is wanted */
    char heading[96];       /* the last one that was printed */
    rapt_code failure;      /* in a callback, which cannot return it */
} explanation;

/* The sequence that predicts: the target, or the text. */
const explain_sequence *explain_last(const explanation *e);
/* The axis of a step as a word ("head"), "" where it has none, and the sequence that it runs along, NULL: none. */
const char *explain_axis(const rapt_observation *s, int dim, char word[16]);
const explain_sequence *explain_along(const explanation *e, const rapt_observation *s, int dim);

/* ---- explain_input.c: texts to tokens, and what --at says ------------------------------------------------- */

rapt_code explain_read(explanation *e, rapt_error *err);

/* ---- explain_pass.c: the pass itself ----------------------------------------------------------------------- */

/* Every step goes to e->text, e->steps or both, as it is computed. */
rapt_code explain_pass(explanation *e, rapt_error *err);

/* ---- explain_only.c: what --only asks for ------------------------------------------------------------------ */

/* Whether a step or part of this name is wanted; it is remembered for explain_check_only. */
bool explain_wants(explanation *e, const char *name);
/* Fails where a pattern matched nothing, with a near name. After the pass. */
rapt_code explain_check_only(const explanation *e, rapt_error *err);

/* ---- explain_text.c, explain_heading.c: for people --------------------------------------------------------- */

void explain_print_model(explanation *e);
void explain_print_tokens(explanation *e);
rapt_code explain_print_step(explanation *e, const rapt_observation *s, rapt_error *err);
rapt_code explain_print_likeliest(explanation *e, rapt_error *err);
rapt_code explain_print_loss(explanation *e, rapt_error *err);
/* The part of the model that a step belongs to: "Encoder block 0: Self-attention". */
void explain_heading(const explanation *e, const rapt_observation *s, char text[96]);

/* ---- explain_json.c: for programs -------------------------------------------------------------------------- */

rapt_code explain_add_step(explanation *e, const rapt_observation *s, rapt_error *err);
/* The whole as one object, which shares e->steps. NULL with `err` set. */
json_t *explain_object(explanation *e, rapt_error *err);

#endif
