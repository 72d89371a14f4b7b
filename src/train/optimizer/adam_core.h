/* train/optimizer/adam_core.h (internal): what an optimizer keeps of each parameter. For adam.c, which makes it, and adam_step.c,
 * which makes its steps. */
#ifndef TRAIN_OPTIMIZER_ADAM_CORE_H
#define TRAIN_OPTIMIZER_ADAM_CORE_H

#include "rapt/train.h"

#include "base/arena.h"
#include "train/optimizer/adam_rows.h"
#include "train/optimizer/moments8.h"
#include "train/optimizer/muon.h"

/* Which steps a parameter makes. */
typedef enum adam_kind { ADAM_NOT_TRAINED, ADAM_FP32, ADAM_IN_8_BITS, ADAM_MUON, ADAM_SGD } adam_kind;

struct rapt_adam {
    rapt_params *set;
    rapt_adam_options options;
    bool with_muon, with_sgd; /* at most one */
    rapt_sgd_options sgd;
    muon_state muon;       /* with_muon: for the matrices that it takes; */
    muon_matrix *matrices; /* [count] those that move in a step */
    arena memory;
    char *pages;          /* pages of the moments, if only a part of them is used; NULL: they are in the arena */
    size_t mapped, given; /* bytes of these pages, and bytes that moments use */
    size_t count;         /* number of parameters when the optimizer was made */
    adam_kind *kinds;     /* [count] */
    rapt_real **m, **v;   /* [count]; NULL where a kind has no such moment, or has it in 8 bits */
    moments8 *codes;      /* [count] */
    adam_rows **rows;     /* [count], for sparse parameters, whose rows may be behind; else NULL */
    uint64_t steps;
};

#endif
