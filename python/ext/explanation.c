/* explanation.c: one pass over a text with all that it computed: arrays in place, tokens, predictions, texts of the library. */
#include <stddef.h>
#include <stdlib.h>

#include "model.h"

#include "rapt/explain.h"

typedef struct explanation {
    PyObject_HEAD
    rapt_explanation *e;
    PyObject *owner; /* frees `e`, and keeps the model's owner alive */
} explanation;

static void free_explanation(void *e)
{
    rapt_explanation_free(e);
}

static const option_row OPTIONS[] = {
    {"target", OPTION_SIZED, offsetof(rapt_explain_options, target)},
    {"gradients", OPTION_BOOL, offsetof(rapt_explain_options, gradients)},
    {"lens", OPTION_BOOL, offsetof(rapt_explain_options, lens)},
    {"strict", OPTION_BOOL, offsetof(rapt_explain_options, strict)},
    {"model_name", OPTION_TEXT, offsetof(rapt_explain_options, model_name)},
    {0}};

/* Gradients are the model's own, so passes with them take turns. */
static rapt_explanation *compute(model *m, const rapt_text *text, const rapt_explain_options *o, ext_call *c, rapt_error *err)
{
    if (ext_lock(c, &m->lock, err))
        return NULL;
    rapt_explanation *e = rapt_explanation_new(m->model, text->data, text->size, o, err);
    ext_unlock(&m->lock);
    return e;
}

/* explain(text, options, names): a handle */
PyObject *model_explain(PyObject *self, PyObject *args)
{
    PyObject *given, *dict, *list, *hold;
    if (!PyArg_ParseTuple(args, "OO!O:explain", &given, &PyDict_Type, &dict, &list) || !model_begin(self, &hold))
        return NULL;
    const ext_state *s = ext_state_of(self);
    model *m = (model *)self;
    explanation *handle = NULL;
    ext_texts names = {0};
    rapt_explain_options o = rapt_explain_options_default();
    o.threads = m->compute.threads;
    rapt_text text;
    if (!ext_sized(given, "text", &text) || options_read(dict, OPTIONS, &o) < 0 || ext_texts_read(list, "names", &names) < 0)
        goto end;
    o.names = names.texts;
    o.name_count = names.count;
    ext_call c;
    rapt_error err = {0};
    ext_call_begin(&c, Py_None);
    rapt_explanation *e = compute(m, &text, &o, &c, &err);
    ext_call_end(&c);
    PyObject *owner = e ? owner_new(s, e, free_explanation, hold) : ext_raise(s, &err);
    handle = owner ? (explanation *)ext_new(s->explanation) : NULL;
    if (handle)
        *handle = (explanation){.ob_base = handle->ob_base, .e = e, .owner = Py_NewRef(owner)};
    Py_XDECREF(owner);
end:
    ext_texts_free(&names);
    model_end(self, hold);
    return (PyObject *)handle;
}

/* ---- what it holds ------------------------------------------------------------------------------------------- */

static const rapt_explanation *of(PyObject *self)
{
    return ((explanation *)self)->e;
}

/* items(): a list of (name, formula or None, is a gradient, array) */
static PyObject *items(PyObject *self, PyObject *unused)
{
    (void)unused;
    const rapt_explanation *e = of(self);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < rapt_explanation_count(e); i++) {
        const rapt_intermediate *at = rapt_explanation_at(e, i);
        array_of what = {.data = (void *)(uintptr_t)at->values, .ndim = at->ndim, .name = at->name, .axes = at->axes};
        for (int d = 0; d < at->ndim; d++)
            what.shape[d] = at->shape[d];
        PyObject *a = array_new(ext_state_of(self), &what, ((explanation *)self)->owner);
        PyObject *item = a ? Py_BuildValue("(szNN)", at->name, at->formula, PyBool_FromLong(at->gradient), a) : NULL;
        if (!item || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyObject *texts_list(const char *const *texts, size_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *text = ext_string(texts[i]);
        if (!text || PyList_SetItem(list, (Py_ssize_t)i, text) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* sequences(): a list of (name, ids, labels, unknown words) */
static PyObject *sequences(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < rapt_explanation_sequence_count(of(self)); i++) {
        const rapt_explained_sequence q = rapt_explanation_sequence(of(self), i);
        PyObject *ids = ext_ids_list(q.ids, q.count), *labels = texts_list(q.labels, q.count);
        PyObject *unknown = texts_list(q.unknown_words, q.unknown_word_count);
        PyObject *item = ids && labels && unknown ? Py_BuildValue("(sOOO)", q.name, ids, labels, unknown) : NULL;
        if (!item || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
        Py_XDECREF(ids);
        Py_XDECREF(labels);
        Py_XDECREF(unknown);
        Py_XDECREF(item);
    }
    return list;
}

static size_t positions(const rapt_explanation *e)
{
    const size_t count = rapt_explanation_sequence_count(e);
    return count ? rapt_explanation_sequence(e, count - 1).count : 0;
}

/* (ids, probabilities, label or None, loss or None) */
static PyObject *prediction(rapt_explained_prediction p)
{
    PyObject *ids = ext_ids_list(p.ids, p.count), *probabilities = ext_doubles_list(p.probabilities, p.count), *item = NULL;
    if (ids && probabilities)
        item = p.has_label ? Py_BuildValue("(OOid)", ids, probabilities, (int)p.label, p.loss)
                           : Py_BuildValue("(OOOO)", ids, probabilities, Py_None, Py_None);
    Py_XDECREF(ids);
    Py_XDECREF(probabilities);
    return item;
}

/* predictions(): a list of predictions, after each token of the last sequence */
static PyObject *predictions(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < positions(of(self)); i++) {
        PyObject *item = prediction(rapt_explanation_prediction(of(self), i));
        if (!item || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

/* (prediction, rank of the label or 0, rank and probability of the model's choice) */
static PyObject *lens_at(const rapt_explanation *e, size_t depth, size_t position)
{
    const rapt_explained_lens x = rapt_explanation_lens(e, depth, position);
    PyObject *p = prediction(x.prediction);
    return p ? Py_BuildValue("(Nnnd)", p, (Py_ssize_t)x.label_rank, (Py_ssize_t)x.choice_rank, x.choice_probability) : NULL;
}

/* lens(): a list for each depth with one for each token of the last sequence; empty where it was not asked for */
static PyObject *lens(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *list = PyList_New(0);
    for (size_t depth = 0; list && depth < rapt_explanation_lens_count(of(self)); depth++) {
        PyObject *row = PyList_New((Py_ssize_t)positions(of(self)));
        for (size_t i = 0; row && i < positions(of(self)); i++) {
            PyObject *item = lens_at(of(self), depth, i);
            if (!item || PyList_SetItem(row, (Py_ssize_t)i, item) < 0)
                Py_CLEAR(row);
        }
        if (!row || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* summary(): (loss, target or None) */
static PyObject *summary(PyObject *self, PyObject *unused)
{
    (void)unused;
    size_t size;
    const char *target = rapt_explanation_target(of(self), &size);
    PyObject *text = target ? PyUnicode_DecodeUTF8(target, (Py_ssize_t)size, "replace") : Py_NewRef(Py_None);
    return text ? Py_BuildValue("(dN)", rapt_explanation_loss(of(self)), text) : NULL;
}

/* ---- as text, JSON and HTML ---------------------------------------------------------------------------------- */

static const option_row FORMAT[] = {
    {"full", OPTION_BOOL, offsetof(rapt_explain_format, full)},
    {"table", OPTION_BOOL, offsetof(rapt_explain_format, table)},
    {"width", OPTION_SIZE, offsetof(rapt_explain_format, width)},
    {"all_positions", OPTION_BOOL, offsetof(rapt_explain_format, all_positions)},
    {0}};

static const option_row PAGE[] = {
    {"full", OPTION_BOOL, offsetof(rapt_explain_page_options, full)},
    {"book", OPTION_TEXT, offsetof(rapt_explain_page_options, book)},
    {0}};

/* written(kind, options): "text", "json" or "html", as the program writes it */
static PyObject *written(PyObject *self, PyObject *args)
{
    const char *kind;
    PyObject *dict, *string = NULL;
    if (!PyArg_ParseTuple(args, "sO!:written", &kind, &PyDict_Type, &dict))
        return NULL;
    rapt_explain_format f = rapt_explain_format_default();
    rapt_explain_page_options page = rapt_explain_page_options_default();
    const bool html = *kind == 'h';
    if (options_read(dict, html ? PAGE : FORMAT, html ? (void *)&page : &f) < 0)
        return NULL;
    char *text = NULL;
    size_t size = 0;
    ext_call c;
    rapt_error err = {0};
    ext_call_begin(&c, Py_None);
    rapt_code code = html           ? rapt_explanation_page(of(self), &page, &text, &size, &err)
                     : *kind == 'j' ? rapt_explanation_json(of(self), &f, &text, &size, &err)
                                    : rapt_explanation_text(of(self), &f, &text, &size, &err);
    ext_call_end(&c);
    string = code ? ext_raise(ext_state_of(self), &err) : PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "replace");
    free(text);
    return string;
}

static void explanation_dealloc(PyObject *self)
{
    Py_XDECREF(((explanation *)self)->owner);
    ext_free(self);
}

static PyMethodDef explanation_methods[] = {
    {"items", items, METH_NOARGS, NULL},
    {"sequences", sequences, METH_NOARGS, NULL},
    {"predictions", predictions, METH_NOARGS, NULL},
    {"lens", lens, METH_NOARGS, NULL},
    {"summary", summary, METH_NOARGS, NULL},
    {"written", written, METH_VARARGS, NULL},
    {0}};
static PyType_Slot explanation_slots[] = {{Py_tp_dealloc, explanation_dealloc}, {Py_tp_methods, explanation_methods}, {0}};
PyType_Spec explanation_spec = {"rapt._rapt.Explanation", sizeof(explanation), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, explanation_slots};
