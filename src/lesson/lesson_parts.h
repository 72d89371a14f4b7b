/* lesson/lesson_parts.h: what lesson.c and lesson_look.c share. */
#ifndef LESSON_LESSON_PARTS_H
#define LESSON_LESSON_PARTS_H

#include "lesson/lesson.h"

#include "rapt/explain.h"
#include "rapt/train.h"

#include <jansson.h>

struct lesson {
    rapt_recipe recipe;
    char *out;              /* the run's folder */
    rapt_trainer *trainer;  /* NULL: there is no run */
    rapt_memory_plan plan;  /* its corpora are the trainer's */
    rapt_explanation *seen; /* what lesson_look has seen last; or NULL. It borrows `less`, or the trainer's model, with values of
                               its own */
    rapt_explanation *whole; /* the same tokens in the model with all heads on, if some are off; else NULL */
    rapt_model *less;       /* the model without the heads that are off, while `seen` and `whole` borrow it; or NULL */
    char *off;              /* names of heads that are off, blanks between; NULL: all are on */
};

/* JSON as text, which the caller frees; `o` (stolen, may be NULL: out of memory) is freed. */
char *lesson_json(json_t *o);
/* {"error": ...} of err.message. */
char *lesson_error(const rapt_error *err);
/* null where x is not finite, which JSON cannot say. */
json_t *lesson_number(double x);
/* Frees `seen` and what belongs to it. */
void lesson_forget(lesson *l);
/* The model after the last step. NULL with `err` set: there is none. */
const rapt_model *lesson_model(lesson *l, rapt_error *err);

#endif
