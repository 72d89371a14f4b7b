/* rerank.c: scores of pairs of texts, by a cross-encoder. */
#include "model.h"

#include "rapt/rerank.h"

/* Within a call: batch by batch, so that Ctrl-C is heard between two. */
static rapt_code score(rapt_reranker *r, const rapt_text_pair *pairs, size_t count, rapt_pair_score *scores, ext_call *c,
                       rapt_error *err)
{
    for (size_t i = 0; i < count; i += RAPT_RERANK_BATCH) {
        const size_t left = count - i, some = left < RAPT_RERANK_BATCH ? left : RAPT_RERANK_BATCH;
        if (ext_call_stop(c))
            return rapt_fail(err, RAPT_ERR_INTERRUPTED, "the scoring was cancelled");
        rapt_code code = rapt_reranker_run(r, pairs + i, some, scores + i, err);
        if (code)
            return code;
        for (size_t j = 0; j < some; j++)
            scores[i + j].index = i + j;
    }
    return RAPT_OK;
}

/* [(index, score, logit, cut), ...] */
static PyObject *score_list(const rapt_pair_score *scores, size_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; i < count && list; i++) {
        PyObject *one = Py_BuildValue("(nddO)", (Py_ssize_t)scores[i].index, (double)scores[i].score, (double)scores[i].logit,
                                      scores[i].cut ? Py_True : Py_False);
        if (!one || PyList_SetItem(list, (Py_ssize_t)i, one) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* Scores of pairs, in their order, or if `ranked`, the best first. */
static PyObject *score_texts(PyObject *self, const ext_texts *first, const ext_texts *second, int ranked, PyObject *should_stop)
{
    const ext_state *s = ext_state_of(self);
    const size_t count = second->count;
    rapt_reranker_options o = rapt_reranker_options_default();
    ext_call c;
    rapt_error err = {0};
    o.compute = ((const model *)self)->compute;
    rapt_text_pair *pairs = PyMem_Malloc((count + 1) * sizeof *pairs);
    rapt_pair_score *scores = PyMem_Malloc((count + 1) * sizeof *scores);
    PyObject *list = pairs && scores ? NULL : PyErr_NoMemory();
    if (pairs && scores) {
        for (size_t i = 0; i < count; i++)
            pairs[i] = (rapt_text_pair){first->sized[first->count == 1 ? 0 : i], second->sized[i]};
        ext_call_begin(&c, should_stop);
        rapt_reranker *r = rapt_reranker_new(((const model *)self)->model, &o, &err);
        rapt_code code = r ? score(r, pairs, count, scores, &c, &err) : err.code;
        rapt_reranker_free(r);
        if (!code && ranked)
            rapt_pair_scores_rank(scores, count);
        ext_call_end(&c);
        list = code ? ext_raise(s, &err) : score_list(scores, count);
    }
    PyMem_Free(pairs);
    PyMem_Free(scores);
    return list;
}

/* rerank(first, second, ranked, should_stop): lists of str, of the same length, or one text and all with which it is paired. */
PyObject *model_rerank(PyObject *self, PyObject *args)
{
    PyObject *a, *b, *should_stop, *hold, *list = NULL;
    int ranked;
    if (!PyArg_ParseTuple(args, "OOpO:rerank", &a, &b, &ranked, &should_stop) || !model_begin(self, &hold))
        return NULL;
    ext_texts first = {0}, second = {0};
    if (ext_sized_read(a, "text", &first) == 0 && ext_sized_read(b, "text", &second) == 0) {
        if (first.count != 1 && first.count != second.count)
            PyErr_Format(PyExc_ValueError, "%zu first texts and %zu second ones", first.count, second.count);
        else
            list = score_texts(self, &first, &second, ranked, should_stop);
    }
    ext_texts_free(&first);
    ext_texts_free(&second);
    model_end(self, hold);
    return list;
}
