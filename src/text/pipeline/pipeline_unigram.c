/* text/pipeline/pipeline_unigram.c: Unigram as the package `tokenizers` has it: adjacent unknown characters become one token, or
 * tokens of their bytes. For pipeline_model.c; pieces/unigram.c finds the best cuts. */
#include "text/pipeline/pipeline_model.h"

/* Puts the ids of bytes begin .. end - 1, for which the model has no token. As in `tokenizers`, each of their bytes has the place
 * of all. */
static rapt_code put_unknown_run(const pipeline_model *m, const char *text, size_t begin, size_t end, model_work *w,
                                 rapt_error *err)
{
    int32_t whole = token_list_find(&m->vocab, text + begin, end - begin);
    bool bytes = m->byte_fallback && whole < 0;
    for (size_t i = begin; i < end && bytes; i++)
        bytes = m->bytes[(unsigned char)text[i]] >= 0;
    if (!bytes)
        return model_work_put(w, whole >= 0 ? whole : m->unk, begin, end, err);
    rapt_code code = RAPT_OK;
    for (size_t i = begin; i < end && !code; i++)
        code = model_work_put(w, m->bytes[(unsigned char)text[i]], begin, end, err);
    return code;
}

rapt_code pipeline_unigram_encode(const pipeline_model *m, const char *text, size_t size, model_work *w, rapt_error *err)
{
    if (size > INT32_MAX / 2)
        return rapt_fail(err, RAPT_ERR_VALUE, "a piece of %zu bytes is too long to cut", size);
    w->cuts.count = 0;
    rapt_code code = unigram_cut(&m->unigram, text, size, &w->paths, &w->cuts);
    if (code == RAPT_ERR_VALUE)
        return pipeline_model_unknown(m, err) < 0 ? RAPT_ERR_VALUE : RAPT_OK;
    if (code)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to cut a piece of text");
    const piece_cut *cuts = w->cuts.list;
    for (size_t i = 0, begin = 0; i < w->cuts.count && !code; i++) {
        if (cuts[i].id != m->unk)
            code = model_work_put(w, cuts[i].id, begin, cuts[i].end, err);
        else if (i + 1 == w->cuts.count || cuts[i + 1].id != m->unk)
            code = put_unknown_run(m, text, begin, cuts[i].end, w, err);
        else
            continue;
        begin = cuts[i].end;
    }
    return code;
}
