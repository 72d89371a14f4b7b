/* metrics.c: BLEU and chrF. */
#include <math.h>
#include <stddef.h>

#include "ext.h"

#include "rapt/metrics.h"

/* The arguments of a corpus score, read from lists of str. */
typedef struct corpus {
    ext_texts translations, *references; /* [count] */
    const rapt_text **streams;          /* [count], of `references` */
    size_t count;
    rapt_metric_texts texts;
} corpus;

static void corpus_free(corpus *c)
{
    for (size_t i = 0; c->references && i < c->count; i++)
        ext_texts_free(&c->references[i]);
    PyMem_Free(c->references);
    PyMem_Free((void *)c->streams);
    ext_texts_free(&c->translations);
}

static int corpus_read(PyObject *translations, PyObject *references, corpus *c)
{
    *c = (corpus){0};
    if (ext_sized_read(translations, "hypotheses", &c->translations) < 0)
        return -1;
    if (!PyList_Check(references)) {
        ext_wrong_type("references", "a list of lists of str, one for each reference translation", references);
        return -1;
    }
    c->count = (size_t)PyList_Size(references);
    c->references = PyMem_Calloc(c->count + 1, sizeof *c->references);
    c->streams = PyMem_Calloc(c->count + 1, sizeof *c->streams);
    if (!c->references || !c->streams) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < c->count; i++) {
        PyObject *stream = PyList_GetItem(references, (Py_ssize_t)i); // borrowed: the package's own list
        if (ext_sized_read(stream, "references", &c->references[i]) < 0)
            return -1;
        if (c->references[i].count != c->translations.count) {
            ext_invalid("references[%zu] has %zu segments; there are %zu hypotheses", i,
                        c->references[i].count, c->translations.count);
            return -1;
        }
        c->streams[i] = c->references[i].sized;
    }
    c->texts = (rapt_metric_texts){.translations = c->translations.sized, .references = c->streams, .reference_count = c->count,
                                    .segment_count = c->translations.count};
    return 0;
}

static const char *const TOKENIZE[] = {"13a", "none", "intl", "char", "zh", NULL};
static const char *const SMOOTH[] = {"exp", "none", "floor", "add-k", NULL};
static const option_row BLEU[] = {
    {"tokenize", OPTION_NAME, offsetof(rapt_bleu_options, tokenize), TOKENIZE},
    {"smooth_method", OPTION_NAME, offsetof(rapt_bleu_options, smooth), SMOOTH},
    {"smooth_value", OPTION_DOUBLE, offsetof(rapt_bleu_options, smooth_value)},
    {"lowercase", OPTION_BOOL, offsetof(rapt_bleu_options, lowercase)},
    {"effective_order", OPTION_BOOL, offsetof(rapt_bleu_options, effective_order)},
    {0}};

/* (score, signature, counts, totals, precisions, bp, sys_len, ref_len) */
static PyObject *bleu_result(const rapt_bleu *b, const char *signature)
{
    PyObject *counts = ext_doubles_list(b->counts, RAPT_BLEU_ORDER), *totals = ext_doubles_list(b->totals, RAPT_BLEU_ORDER);
    PyObject *precisions = ext_doubles_list(b->precisions, RAPT_BLEU_ORDER);
    if (counts && totals && precisions)
        return Py_BuildValue("(dsNNNdnn)", b->score, signature, counts, totals, precisions, b->bp, (Py_ssize_t)b->sys_len,
                             (Py_ssize_t)b->ref_len);
    Py_XDECREF(counts);
    Py_XDECREF(totals);
    Py_XDECREF(precisions);
    return NULL;
}

/* bleu(hypotheses, references, options) */
static PyObject *bleu(PyObject *module, PyObject *args)
{
    PyObject *translations, *references, *dict, *result = NULL;
    if (!PyArg_ParseTuple(args, "OOO!:bleu", &translations, &references, &PyDict_Type, &dict))
        return NULL;
    rapt_bleu_options o = rapt_bleu_options_default();
    corpus texts = {0};
    if (options_read(dict, BLEU, &o) < 0 || corpus_read(translations, references, &texts) < 0)
        goto end;
    char signature[RAPT_SIGNATURE_SIZE];
    rapt_bleu b;
    ext_call c;
    rapt_error err = {0};
    ext_call_begin(&c, NULL);
    rapt_code code = rapt_bleu_corpus(&o, &texts.texts, &b, &err);
    ext_call_end(&c);
    if (!code)
        rapt_bleu_signature(&o, texts.count, signature, sizeof signature);
    result = code ? ext_raise(PyModule_GetState(module), &err) : bleu_result(&b, signature);
end:
    corpus_free(&texts);
    return result;
}

static const option_row CHRF[] = {
    {"char_order", OPTION_INT, offsetof(rapt_chrf_options, char_order)},
    {"word_order", OPTION_INT, offsetof(rapt_chrf_options, word_order)},
    {"beta", OPTION_DOUBLE, offsetof(rapt_chrf_options, beta)},
    {"lowercase", OPTION_BOOL, offsetof(rapt_chrf_options, lowercase)},
    {"whitespace", OPTION_BOOL, offsetof(rapt_chrf_options, whitespace)},
    {"eps_smoothing", OPTION_BOOL, offsetof(rapt_chrf_options, eps_smoothing)},
    {0}};

/* chrf(hypotheses, references, options): (score, signature) */
static PyObject *chrf(PyObject *module, PyObject *args)
{
    PyObject *translations, *references, *dict, *result = NULL;
    if (!PyArg_ParseTuple(args, "OOO!:chrf", &translations, &references, &PyDict_Type, &dict))
        return NULL;
    rapt_chrf_options o = rapt_chrf_options_default();
    corpus texts = {0};
    if (options_read(dict, CHRF, &o) < 0 || corpus_read(translations, references, &texts) < 0)
        goto end;
    char signature[RAPT_SIGNATURE_SIZE];
    double score;
    ext_call c;
    rapt_error err = {0};
    ext_call_begin(&c, NULL);
    rapt_code code = rapt_chrf_corpus(&o, &texts.texts, &score, &err);
    ext_call_end(&c);
    if (!code)
        rapt_chrf_signature(&o, texts.count, signature, sizeof signature);
    result = code ? ext_raise(PyModule_GetState(module), &err) : Py_BuildValue("(ds)", score, signature);
end:
    corpus_free(&texts);
    return result;
}

/* book_bleu(prediction, label, k) */
static PyObject *book_bleu(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *prediction, *label;
    int k;
    if (!PyArg_ParseTuple(args, "OOi:book_bleu", &prediction, &label, &k))
        return NULL;
    rapt_text p, l;
    if (!ext_sized(prediction, "prediction", &p) || !ext_sized(label, "label", &l))
        return NULL;
    if (k < 1) {
        ext_invalid("k is %d; it must be 1 or more", k);
        return NULL;
    }
    double score = rapt_bleu_book(&p, &l, k);
    if (isnan(score)) {
        ext_invalid("a text has more than %d characters", RAPT_METRIC_MAX_LENGTH);
        return NULL;
    }
    return PyFloat_FromDouble(score);
}

PyMethodDef metrics_functions[] = {
    {"bleu", bleu, METH_VARARGS, NULL},
    {"chrf", chrf, METH_VARARGS, NULL},
    {"book_bleu", book_bleu, METH_VARARGS, NULL},
    {0}};
