/* io/export_step.h: what every export does before it writes a portion: it asks the caller whether to stop, and tells how far it
 * is. For the files that rapt_model_export writes. */
#ifndef IO_EXPORT_STEP_H
#define IO_EXPORT_STEP_H

#include "rapt/io.h"

/* How far a file is. Starts as {0}. */
typedef struct export_steps {
    size_t begun, last; /* tensors that have begun; the index of the last of them */
} export_steps;

/* Before a portion of tensor `i`, of `count` that are written in any order. RAPT_ERR_INTERRUPTED: "PATH: interrupted". */
static inline rapt_code export_step(const rapt_export_options *o, export_steps *steps, size_t i, size_t count, const char *path,
                                    rapt_error *err)
{
    steps->begun += steps->begun == 0 || i != steps->last;
    steps->last = i;
    if (o->stop && o->stop(o->context))
        return rapt_fail(err, RAPT_ERR_INTERRUPTED, "%s: interrupted", path);
    if (o->on_progress)
        o->on_progress(o->context, steps->begun, count);
    return RAPT_OK;
}

#endif
