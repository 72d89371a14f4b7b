/* cli/eval/eval_tape.c: a tape for an evaluation, with packed weights if their types differ from the model's. */
#include "cli/eval/eval_tape.h"

#include "nn/pack.h"
#include "tape/tape_core.h"

rapt_code eval_tape_make(eval_tape *e, const rapt_model *m, const rapt_translate_options *o, rapt_error *err)
{
    const rapt_tape_options options = {.threads = o->threads, .precision = o->precision, .weights = o->weights};
    *e = (eval_tape){.t = rapt_tape_new(&options, err)};
    if (!e->t || !pack_is_needed(m->params, e->t))
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
