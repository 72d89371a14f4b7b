/* decode/score_tape.c: makes and frees the tape that losses are computed on, and takes the options of a score. */
#include "decode/score_tape.h"

#include "base/sized.h"
#include "decode/option_defaults.h"
#include "nn/pack.h"
#include "tape/tape_core.h"

SIZED_ENDS_WITH(rapt_score_options, reserved);

void rapt_score_options_init(rapt_score_options *o, size_t size)
{
    sized_init(o, size, &(rapt_score_options){SCORE_DEFAULTS}, sizeof *o);
}

rapt_code score_options_take(const rapt_score_options *given, rapt_score_options *out, rapt_error *err)
{
    *out = rapt_score_options_default();
    rapt_code code = sized_take(out, given, "score_options", err);
    return code ? code : sized_check_reserved(out->reserved, sizeof out->reserved, "score_options", err);
}

rapt_code score_tape_make(score_tape *e, const rapt_model *m, const rapt_score_options *o, rapt_error *err)
{
    *e = (score_tape){.t = rapt_tape_new(&o->compute, err)};
    if (!e->t || !pack_is_needed(m->params, e->t))
        return e->t ? RAPT_OK : err->code;
    e->packed = m->task == RAPT_TASK_TRANSLATION ? pack_transformer(m->translation.net, e->t, e->t->pool, err)
                                                 : pack_lm(m->language.net, e->t, err);
    tape_use_packed(e->t, e->packed);
    return e->packed ? RAPT_OK : err->code;
}

void score_tape_free(score_tape *e)
{
    rapt_tape_free(e->t);
    packed_weights_free(e->packed);
}
