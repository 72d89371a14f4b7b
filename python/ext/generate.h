/* generate.h: what texts and streams of a language model share: options from Python, and generators between two calls. */
#ifndef RAPT_PYTHON_GENERATE_H
#define RAPT_PYTHON_GENERATE_H

#include "model.h"

#include "rapt/generate.h"

/* The members of rapt_sample_options, which other options have too (OPTION_ROWS). */
extern const option_row sample_option_rows[];

/* A generator of a model with the options that it was made with. */
typedef struct generation {
    rapt_generator *g;
    ext_call *call; /* the call in progress, for its `stop` */
    PyObject *key;  /* the options; a call with equal options uses the generator again */
    const ext_state *state;
    PyObject *logits; /* a callable that changes logits, for the run in progress; or NULL */
} generation;
/* Between calls, with the lock of the interpreter. NULL is fine. */
void generation_free(generation *n);

/* A request: (prompt, options, stops, biases, sample). */
typedef struct text_request {
    rapt_generate_options o;
    const char *json_schema; /* or NULL */
    rapt_constraint *constraint; /* for `o`: text_request_constrain */
    ext_texts stops;
    rapt_logit_bias *biases;
    PyObject *key; /* (options, stops, biases, whether logits are changed), which `o` points into */
    ext_bytes text;
    ext_ids ids;   /* in place of `text`, if it has no data */
    unsigned long long sample;
    PyObject *logits; /* borrowed: a callable, or NULL */
} text_request;
/* Reads what Python hands over, and frees it. *r is to be freed in any case. */
/* `m` NULL: of an engine, whose threads and types of numbers count. `logits`: a callable, or None. */
int text_request_read(const model *m, PyObject *prompt, PyObject *options, PyObject *stops, PyObject *biases, PyObject *logits,
                      text_request *r);
void text_request_free(text_request *r);
/* Within a call: reads the schema into `o`. */
rapt_code text_request_constrain(text_request *r, rapt_error *err);

/* Between calls: the generator that waits, if its options are these, or else one that generation_begin is to make. NULL: an
 * exception is set. */
generation *generation_take(const ext_state *s, model *m, const text_request *r);
/* Gives it to the model for the next call, unless one waits already. */
void generation_put(model *m, generation *n);
/* Within a call: makes a generator unless there is one, and begins with the prompt. */
rapt_code generation_begin(generation *n, const model *m, text_request *r, ext_call *c, rapt_error *err);

/* (text, ids, log-probabilities or None, prompt tokens, why it ended, score). */
PyObject *completion_tuple(const rapt_generated *result);
/* Frees the result, too. */
PyObject *completion_of(rapt_generated *result);

#endif
