/* explain/explain_lens.h: the logit lens: what the residual stream at each depth predicts. For explain_pass.c. */
#ifndef EXPLAIN_EXPLAIN_LENS_H
#define EXPLAIN_EXPLAIN_LENS_H

#include "explain/explanation.h"

typedef struct explain_lens {
    rapt_explanation *e; /* gets the results */
    rapt_tape *t;
    size_t depths, rows, features;
    rapt_real *streams; /* [depths, rows, features], from malloc */
    size_t depth;       /* that is computed */
    rapt_explain_cost *cost; /* gets the elements of a pass that is only counted */
    rapt_code failure;  /* of the observer, which cannot return it */
} explain_lens;

/* The sequences of `e` are there already. */
void explain_lens_init(explain_lens *l, rapt_explanation *e, rapt_tape *t);
/* Makes room for the streams and the results, before the pass that is computed. */
rapt_code explain_lens_open(explain_lens *l, rapt_error *err);
void explain_lens_free(explain_lens *l);

/* Copies an intermediate of the model's pass if it is the residual stream at a depth. */
void explain_lens_note(explain_lens *l, const rapt_observation *o);
/* After the model's pass: predicts from the streams, one pass of the tape a depth. With `cost` the passes are only counted, and
 * what they take is added to it. RAPT_ERR_NOT_FINITE: the logits of a depth are not finite. */
rapt_code explain_lens_run(explain_lens *l, rapt_explain_cost *cost, rapt_error *err);

#endif
