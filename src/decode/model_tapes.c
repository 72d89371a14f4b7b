/* decode/model_tapes.c: makes tapes with packed weights for a model of any task. */
#include "decode/model_tapes.h"

#include "io/model_core.h"
#include "nn/pack.h"
#include "tape/compute.h"
#include "tape/tape_core.h"
#include "tensor/params.h"

#include <stdlib.h>

static packed_weights *model_pack(const rapt_model *m, const rapt_tape *t, pool *threads, bool waits, rapt_error *err)
{
    switch (m->task) {
    case RAPT_TASK_TRANSLATION: return pack_transformer(m->translation.net, t, threads, err);
    case RAPT_TASK_ENCODER:
    case RAPT_TASK_CROSS_ENCODER: return pack_encoder_only(m->encoder.net, t, threads, err);
    default: return pack_lm(m->language.net, t, threads, waits, err);
    }
}

/* With one thread, one tape is both kinds. */
static rapt_code model_tapes_fill(model_tapes *s, const rapt_compute *options, int which, rapt_error *err)
{
    const bool each = which & MODEL_TAPES_EACH, all = which & MODEL_TAPES_ALL;
    rapt_compute one = *options;
    one.threads = 1;
    s->pool = pool_new(options->threads, err);
    if (!s->pool)
        return err->code;
    s->threads = pool_threads(s->pool);
    s->count = each ? s->threads + (all && s->threads > 1) : 1;
    s->list = calloc((size_t)s->count, sizeof *s->list);
    if (!s->list)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the tapes of %d threads", s->threads);
    for (int i = 0; i < s->count; i++)
        if (!(s->list[i] = tape_new_of_pool(&one, all && i == s->count - 1 ? s->pool : NULL, err)))
            return err->code;
    s->all = all ? s->list[s->count - 1] : NULL;
    return RAPT_OK;
}

static rapt_code model_tapes_pack(model_tapes *s, const rapt_model *m, bool waits, rapt_error *err)
{
    s->packed = model_pack(m, s->list[0], s->pool, waits, err);
    for (int i = 0; i < s->count; i++)
        tape_use_packed(s->list[i], s->packed);
    return s->packed ? RAPT_OK : err->code;
}

rapt_code model_tapes_make(model_tapes *s, const rapt_model *m, const rapt_compute *options, int which, rapt_error *err)
{
    rapt_error own = {0};
    *s = (model_tapes){0};
    rapt_code code = compute_check(options, &own);
    code = code ? code : model_tapes_fill(s, options, which, &own);
    if (!code)
        params_sync(m->params, s->pool);
    if (!code && (!(which & MODEL_TAPES_PACK_IF_NEEDED) || pack_is_needed(m->params, s->list[0])))
        code = model_tapes_pack(s, m, which & MODEL_TAPES_PACK_LATER, &own);
    return code ? rapt_fail(err, code, "%s", own.message) : RAPT_OK;
}

packed_weights *model_tapes_pack_other(const model_tapes *s, const rapt_model *m, rapt_error *err)
{
    params_sync(m->params, s->pool);
    return model_pack(m, s->list[0], s->pool, false, err);
}

rapt_code model_tapes_complete(model_tapes *s, rapt_error *err)
{
    return s->packed ? packed_weights_complete(s->packed, s->pool, err) : RAPT_OK;
}

void model_tapes_free(model_tapes *s)
{
    for (int i = 0; s->list && i < s->count; i++)
        rapt_tape_free(s->list[i]);
    packed_weights_free(s->packed);
    free(s->list);
    pool_free(s->pool);
    *s = (model_tapes){0};
}
