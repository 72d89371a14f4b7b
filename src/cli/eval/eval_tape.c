/* cli/eval/eval_tape.c: see eval_tape.h. */
#include "cli/eval/eval_tape.h"

#include "nn/pack.h"
#include "tape/tape_core.h"

rapt_code eval_tape_make(eval_tape *e, const rapt_model *m, int threads, rapt_precision precision, rapt_error *err)
{
    *e = (eval_tape){.t = rapt_tape_new(&(rapt_tape_options){.threads = threads, .precision = precision}, err)};
    if (!e->t || precision != RAPT_PRECISION_Q8_0)
        return e->t ? RAPT_OK : err->code;
    e->packed = m->task == RAPT_TASK_TRANSLATION ? pack_transformer(m->translation.net, e->t, e->t->pool, err)
                                                 : pack_lm(m->language.net, e->t, err);
    tape_use_packed(e->t, e->packed);
    return e->packed ? RAPT_OK : err->code;
}

void eval_tape_free(eval_tape *e)
{
    rapt_tape_free(e->t);
    packed_weights_free(e->packed);
}
