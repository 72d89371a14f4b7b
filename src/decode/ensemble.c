/* decode/ensemble.c: which models fit together, and their packed weights. The search takes the mean of their
 * log-probabilities. */
#include "decode/ensemble.h"

#include "io/model_core.h"

#include <stdlib.h>

static bool have_same_tokens(const rapt_tokenizer *a, const rapt_tokenizer *b)
{
    return a == b || rapt_tokenizer_hash(a) == rapt_tokenizer_hash(b);
}

static rapt_code ensemble_check(const rapt_model *m, const rapt_model *other, size_t number, rapt_error *err)
{
    if (other->task != RAPT_TASK_TRANSLATION)
        return rapt_fail(err, RAPT_ERR_VALUE, "model %zu of the ensemble does not translate", number);
    const rapt_translation_model *a = &m->translation, *b = &other->translation;
    const rapt_special_ids s = a->special, t = b->special;
    const char *side = !have_same_tokens(a->source, b->source)   ? "source"
                       : !have_same_tokens(a->target, b->target) ? "target" : NULL;
    if (side)
        return rapt_fail(err, RAPT_ERR_VALUE, "model %zu of the ensemble has another %s vocabulary than the first", number, side);
    if (s.unk != t.unk || s.pad != t.pad || s.bos != t.bos || s.eos != t.eos ||
        a->net->config.target_vocab != b->net->config.target_vocab || a->net->config.source_vocab != b->net->config.source_vocab)
        return rapt_fail(err, RAPT_ERR_VALUE, "model %zu of the ensemble has other special tokens than the first, or more of "
                         "them", number);
    if (b->max_len < a->max_len || b->net->config.max_positions < a->net->config.max_positions)
        return rapt_fail(err, RAPT_ERR_VALUE, "model %zu of the ensemble takes %zu tokens at most, the first %zu: name it first",
                         number, b->max_len, a->max_len);
    return RAPT_OK;
}

rapt_code ensemble_make(ensemble *e, const rapt_model *m, const rapt_model *const *others, size_t count, const model_tapes *tapes,
                        rapt_error *err)
{
    *e = (ensemble){0};
    if (count >= SENTENCE_MODELS)
        return rapt_fail(err, RAPT_ERR_VALUE, "an ensemble of %zu models: there may be %d", count + 1, SENTENCE_MODELS);
    for (size_t i = 0; i < count; i++) {
        rapt_code code = ensemble_check(m, others[i], i + 2, err);
        if (code)
            return code;
    }
    e->nets = calloc(count + 1, sizeof *e->nets);
    if (!e->nets)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu models", count + 1);
    e->nets[e->count++] = (sentence_net){m->translation.net, tapes->packed};
    for (; e->count <= count; e->count++) {
        const rapt_model *other = others[e->count - 1];
        packed_weights *packed = model_tapes_pack_other(tapes, other, err);
        if (!packed)
            return err ? err->code : RAPT_ERR_MEMORY;
        e->nets[e->count] = (sentence_net){other->translation.net, packed};
    }
    return RAPT_OK;
}

void ensemble_free(ensemble *e)
{
    for (size_t i = 1; i < e->count; i++)
        packed_weights_free((packed_weights *)e->nets[i].packed);
    free(e->nets);
    *e = (ensemble){0};
}
