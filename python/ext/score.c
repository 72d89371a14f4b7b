/* score.c: how probable given texts are for a language model, and given translations for a translation model. */
#include <stdlib.h>

#include "model.h"

#include "rapt/score.h"

static rapt_score_options score_options(const model *m, ext_call *c)
{
    rapt_score_options o = rapt_score_options_default();
    o.compute = m->compute;
    o.stop = ext_call_stop;
    o.context = c;
    return o;
}

/* Within a call: log_probs[count - 1] of tokens. */
static rapt_code score_ids(const model *m, const int32_t *ids, size_t count, double *log_probs, ext_call *c, rapt_error *err)
{
    const rapt_score_options o = score_options(m, c);
    rapt_token_file *f = rapt_token_file_from_ids(ids, count, rapt_tokenizer_size(rapt_model_source_tokenizer(m->model)), err);
    rapt_code code = f ? rapt_score_each(m->model, f, &o, log_probs, err) : err->code;
    rapt_token_file_close(f);
    return code;
}

static rapt_code encode(const model *m, const ext_bytes *text, ext_ids *ids, rapt_error *err)
{
    rapt_encode_options o = rapt_encode_options_default();
    o.specials = true;
    return rapt_tokenizer_encode_bytes(rapt_model_source_tokenizer(m->model), text->data, text->size, &o, &ids->ids, &ids->count,
                                       err);
}

/* The first token has no log-probability, and a text of one token none at all. */
static PyObject *score_text(model *m, const ext_state *s, ext_bytes *text, ext_ids *given, PyObject *should_stop)
{
    ext_call c;
    rapt_error err = {0};
    ext_ids ids = *given;
    double *log_probs = NULL;
    ext_call_begin(&c, should_stop);
    rapt_code code = text->data ? encode(m, text, &ids, &err) : RAPT_OK;
    if (!code && !(log_probs = calloc(ids.count + 1, sizeof *log_probs)))
        code = rapt_fail(&err, RAPT_ERR_MEMORY, "out of memory for %zu tokens", ids.count);
    if (!code && ids.count > 1)
        code = score_ids(m, ids.ids, ids.count, log_probs, &c, &err);
    ext_call_end(&c);
    PyObject *tuple = code ? ext_raise(s, &err)
                           : Py_BuildValue("(NN)", ext_ids_list(ids.ids, ids.count),
                                           ext_doubles_list(log_probs, ids.count ? ids.count - 1 : 0));
    if (text->data)
        free(ids.ids);
    free(log_probs);
    return tuple;
}

/* score(text or ids, should_stop): (ids, log-probabilities of all but the first) */
PyObject *model_score(PyObject *self, PyObject *args)
{
    PyObject *given, *should_stop, *hold, *tuple = NULL;
    ext_bytes text = {0};
    ext_ids ids = {0};
    if (!PyArg_ParseTuple(args, "OO:score", &given, &should_stop) || !model_begin(self, &hold))
        return NULL;
    if ((PyUnicode_Check(given) ? ext_bytes_read(given, "text", true, &text) : ext_ids_read(given, "text", &ids)) == 0)
        tuple = score_text((model *)self, ext_state_of(self), &text, &ids, should_stop);
    ext_bytes_free(&text);
    ext_ids_free(&ids);
    model_end(self, hold);
    return tuple;
}

/* loss(text, should_stop): (nats, tokens, bytes, perplexity, bits per byte) */
PyObject *model_loss(PyObject *self, PyObject *args)
{
    PyObject *given, *should_stop, *hold, *tuple = NULL;
    ext_bytes text = {0};
    if (!PyArg_ParseTuple(args, "OO:loss", &given, &should_stop) || !model_begin(self, &hold))
        return NULL;
    if (ext_bytes_read(given, "text", true, &text) == 0) {
        const model *m = (const model *)self;
        rapt_score score;
        ext_call c;
        rapt_error err = {0};
        const rapt_score_options o = score_options(m, &c);
        ext_call_begin(&c, should_stop);
        rapt_code code = rapt_score_text(m->model, text.data, text.size, &o, &score, &err);
        ext_call_end(&c);
        tuple = code ? ext_raise(ext_state_of(self), &err)
                     : Py_BuildValue("(dnndd)", score.nll, (Py_ssize_t)score.tokens, (Py_ssize_t)score.bytes, score.perplexity,
                                     score.bits_per_byte);
    }
    ext_bytes_free(&text);
    model_end(self, hold);
    return tuple;
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

typedef struct pair_lists {
    ext_texts sources, targets;
    rapt_pairs *pairs;
} pair_lists;

static int pairs_read(PyObject *sources, PyObject *targets, pair_lists *out)
{
    if (ext_texts_read(sources, "sources", &out->sources) < 0 || ext_texts_read(targets, "targets", &out->targets) < 0)
        return -1;
    if (out->sources.count != out->targets.count) {
        ext_invalid("there are %zu sources and %zu targets", out->sources.count, out->targets.count);
        return -1;
    }
    for (size_t i = 0; i < out->sources.count; i++)
        if (!*out->sources.texts[i] && !*out->targets.texts[i])
            out->sources.texts[i] = " "; // the library skips pairs of two empty texts; this one stays, with an empty side
    return 0;
}

static void pairs_free(pair_lists *p)
{
    rapt_pairs_free(p->pairs);
    ext_texts_free(&p->sources);
    ext_texts_free(&p->targets);
}

/* Within a call. */
static rapt_code pairs_make(pair_lists *p, rapt_error *err)
{
    p->pairs = rapt_pairs_from_lines(p->sources.texts, p->targets.texts, p->sources.count, err);
    return p->pairs ? RAPT_OK : err->code;
}

/* pairs_loss(sources, targets, strict, should_stop): (nll, tokens, skipped, loss, perplexity) */
PyObject *model_pairs_loss(PyObject *self, PyObject *args)
{
    PyObject *sources, *targets, *should_stop, *result = NULL, *hold;
    int strict;
    pair_lists lists = {0};
    if (!PyArg_ParseTuple(args, "OOpO:pairs_loss", &sources, &targets, &strict, &should_stop) || !model_begin(self, &hold))
        return NULL;
    if (pairs_read(sources, targets, &lists) == 0) {
        ext_call c;
        rapt_error err = {0};
        rapt_score score = {0};
        rapt_score_options o = score_options((model *)self, &c);
        o.strict = strict;
        ext_call_begin(&c, should_stop);
        rapt_code code = pairs_make(&lists, &err);
        code = code ? code : rapt_score_pairs(((model *)self)->model, lists.pairs, &o, &score, &err);
        ext_call_end(&c);
        result = code ? ext_raise(ext_state_of(self), &err)
                      : Py_BuildValue("(dnndd)", score.nll, (Py_ssize_t)score.tokens, (Py_ssize_t)score.skipped, score.loss,
                                      score.perplexity);
    }
    pairs_free(&lists);
    model_end(self, hold);
    return result;
}

/* A list of (ids, log-probabilities), or None for a pair with an empty side. */
static PyObject *scores_list(const rapt_pair_scores *scores)
{
    PyObject *list = PyList_New((Py_ssize_t)scores->count);
    for (size_t i = 0; list && i < scores->count; i++) {
        const size_t at = scores->begins[i], count = scores->begins[i + 1] - at;
        PyObject *item = count == 0 ? Py_NewRef(Py_None)
                                    : Py_BuildValue("(NN)", ext_ids_list(scores->tokens + at, count),
                                                    ext_doubles_list(scores->log_probs + at, count));
        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* score_pairs(sources, targets, strict, should_stop): see scores_list */
PyObject *model_score_pairs(PyObject *self, PyObject *args)
{
    PyObject *sources, *targets, *should_stop, *list = NULL, *hold;
    int strict;
    pair_lists lists = {0};
    if (!PyArg_ParseTuple(args, "OOpO:score_pairs", &sources, &targets, &strict, &should_stop) || !model_begin(self, &hold))
        return NULL;
    if (pairs_read(sources, targets, &lists) == 0) {
        ext_call c;
        rapt_error err = {0};
        rapt_pair_scores scores = {0};
        rapt_score_options o = score_options((model *)self, &c);
        o.strict = strict;
        ext_call_begin(&c, should_stop);
        rapt_code code = pairs_make(&lists, &err);
        code = code ? code : rapt_score_each_pair(((model *)self)->model, lists.pairs, &o, &scores, &err);
        ext_call_end(&c);
        list = code ? ext_raise(ext_state_of(self), &err) : scores_list(&scores);
        rapt_pair_scores_free(&scores);
    }
    pairs_free(&lists);
    model_end(self, hold);
    return list;
}
