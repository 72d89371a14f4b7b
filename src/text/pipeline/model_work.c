/* text/pipeline/model_work.c: collects the ids that a model makes, and the id of unknown text. */
#include "text/pipeline/pipeline_model.h"

#include "base/quote.h"

#include <stdlib.h>

void model_work_free(model_work *w)
{
    free(w->ids);
    piece_merge_free(&w->merge);
    unigram_paths_free(&w->paths);
    free(w->cuts.list);
    buffer_free(&w->letters);
    *w = (model_work){0};
}

size_t model_work_count(const model_work *w)
{
    return w->placed ? w->placed->count : w->count;
}

void model_work_take_back(model_work *w, size_t count)
{
    *(w->placed ? &w->placed->count : &w->count) = count;
}

rapt_code model_work_put(model_work *w, int32_t id, size_t begin, size_t end, rapt_error *err)
{
    if (w->placed && begin < end)
        return placed_ids_put(w->placed, id, (rapt_span){w->from[begin].begin, w->from[end - 1].end}, err);
    if (w->placed)
        return placed_ids_put(w->placed, id, (rapt_span){0, 0}, err);
    if (!ARRAY_RESERVE(&w->ids, &w->capacity, w->count + 1))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu ids", w->count + 1);
    w->ids[w->count++] = id;
    return RAPT_OK;
}

int32_t pipeline_model_unknown(const pipeline_model *m, rapt_error *err)
{
    if (m->unk < 0)
        rapt_fail(err, RAPT_ERR_VALUE, "the unknown token \"%s\" is needed, and not in the vocabulary",
                  quote(m->unk_token ? m->unk_token : "").text);
    return m->unk;
}
