/* documents.c: translations of documents of HTML and XML, which are results like those of lines. */
#include <stdlib.h>

#include "model.h"

/* A str of the tuple, or NULL for None; -1 with an exception set. */
static int read_names(PyObject *tuple, Py_ssize_t i, const char *name, const char **names)
{
    PyObject *text = PyTuple_GetItem(tuple, i);
    *names = NULL;
    if (!text || text == Py_None)
        return text ? 0 : -1;
    *names = ext_text(text, name);
    return *names ? 0 : -1;
}

/* (whether it is XML, ignore_tags, splitting_tags, non_splitting_tags, outline_detection) */
static int read_options(PyObject *tuple, rapt_markup_options *o)
{
    *o = rapt_markup_options_default();
    o->kind = PyTuple_GetItem(tuple, 0) == Py_True ? RAPT_MARKUP_XML : RAPT_MARKUP_HTML;
    o->outline = PyTuple_GetItem(tuple, 4) == Py_True;
    if (read_names(tuple, 1, "ignore_tags", &o->ignore) < 0 || read_names(tuple, 2, "splitting_tags", &o->splitting) < 0)
        return -1;
    return read_names(tuple, 3, "non_splitting_tags", &o->non_splitting);
}

static int parse_documents(const ext_state *s, const ext_texts *texts, const rapt_markup_options *o, documents *d)
{
    rapt_error err = {0};
    if (!(d->list = PyMem_Calloc(texts->count + 1, sizeof *d->list))) {
        PyErr_NoMemory();
        return -1;
    }
    for (; d->count < texts->count; d->count++) {
        if (!(d->list[d->count] = rapt_markup_parse(texts->sized[d->count], o, &err))) {
            ext_raise(s, &err);
            return -1;
        }
        d->line_count += rapt_markup_count(d->list[d->count]);
    }
    return 0;
}

int documents_read(const ext_state *s, PyObject *dict, const ext_texts *texts, documents *d)
{
    PyObject *tuple = PyDict_GetItemString(dict, "markup");
    rapt_markup_options o;
    if (!tuple)
        return 0;
    if (tuple != Py_None) {
        if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != 5) {
            ext_invalid("markup is a tuple of five");
            return -1;
        }
        if (read_options(tuple, &o) < 0 || parse_documents(s, texts, &o, d) < 0)
            return -1;
        if (!(d->lines = PyMem_Calloc(d->line_count + 1, sizeof *d->lines))) {
            PyErr_NoMemory();
            return -1;
        }
        for (size_t i = 0, to = 0; i < d->count; i++)
            for (size_t line = 0; line < rapt_markup_count(d->list[i]); line++)
                d->lines[to++] = rapt_markup_lines(d->list[i])[line];
    }
    return PyDict_DelItemString(dict, "markup");
}

void documents_free(documents *d)
{
    for (size_t i = 0; i < d->count; i++)
        rapt_markup_free(d->list[i]);
    PyMem_Free(d->list);
    PyMem_Free(d->lines);
}

/* Hypothesis n of a document: scores of its lines add up. */
static PyObject *document_hypothesis(const ext_state *s, const rapt_markup *m, const rapt_translation *lines, size_t n)
{
    rapt_error err = {0};
    char *text;
    double score = 0, log_prob = 0;
    if (rapt_markup_write(m, lines, n, &text, NULL, &err))
        return ext_raise(s, &err);
    for (size_t i = 0; i < rapt_markup_count(m); i++) {
        const rapt_hypothesis *h = &lines[i].hypotheses[n < lines[i].count ? n : lines[i].count - 1];
        score += h->score;
        log_prob += h->log_prob;
    }
    PyObject *string = ext_string(text);
    free(text);
    return string ? Py_BuildValue("(NddOOO)", string, score, log_prob, Py_None, Py_None, Py_None) : NULL;
}

static int append_item(PyObject *list, PyObject *item)
{
    const int result = item ? PyList_Append(list, item) : -1;
    Py_XDECREF(item);
    return result;
}

/* As translation_of in translate.c. */
static PyObject *document_of(const ext_state *s, const rapt_markup *m, const rapt_translation *lines)
{
    PyObject *list = PyList_New(0), *unknown = PyList_New(0);
    size_t most = 1;
    bool cut = false, lacks = false;
    int status = list && unknown ? 0 : -1;
    for (size_t i = 0; i < rapt_markup_count(m) && status == 0; i++) {
        most = lines[i].count > most ? lines[i].count : most;
        cut = cut || lines[i].cut;
        lacks = lacks || lines[i].lacks_terms;
        for (size_t k = 0; k < lines[i].unknown_word_count && status == 0; k++)
            status = append_item(unknown, ext_string(lines[i].unknown_words[k]));
    }
    for (size_t n = 0; n < most && status == 0; n++)
        status = append_item(list, document_hypothesis(s, m, lines, n));
    if (status == 0)
        return Py_BuildValue("(NNONN)", list, PyBool_FromLong(cut), Py_None, unknown, PyBool_FromLong(lacks));
    Py_XDECREF(list);
    Py_XDECREF(unknown);
    return NULL;
}

PyObject *documents_list(const ext_state *s, const documents *d, const rapt_translation *lines)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < d->count; lines += rapt_markup_count(d->list[i++]))
        if (append_item(list, document_of(s, d->list[i], lines)) < 0)
            Py_CLEAR(list);
    return list;
}
