/* io/model_heads.h: models with heads switched off, for the files of io that load, change, save and free models, and for programs
 * that hold one model. */
#ifndef IO_MODEL_HEADS_H
#define IO_MODEL_HEADS_H

#include "io/model_core.h"
#include "rapt/heads.h"

enum { MODEL_HEAD_NAME = 128 };

/* Frees what such a model has of its own. Returns the model that it owns, or NULL. */
rapt_model *model_heads_free(rapt_model *m);
/* Gives such a model the one that it was made of, to be freed with it. */
void model_heads_own(rapt_model *m, rapt_model *of);

/* RAPT_ERR_VALUE if rapt_model_without_heads made the model: it cannot be `done` ("saved"). */
static inline rapt_code model_heads_refuse(const rapt_model *m, const char *done, rapt_error *err)
{
    if (!m->view)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "a model with heads switched off is not %s; use the model that it was made of", done);
}

/* "decoder.1.cross_attention.2" */
const char *model_heads_name(rapt_head head, char text[MODEL_HEAD_NAME]);

#endif
