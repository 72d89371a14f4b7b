/* translate.c: translations of lines. A result is a tuple, which the package turns into an object. */
#include <stddef.h>
#include <string.h>

#include "generate.h"
#include "model.h"

static const char *const SPLITS[] = {"as_trained", "long", "all", NULL};
static const option_row OPTIONS[] = {
    {"beam", OPTION_SIZE, offsetof(rapt_translate_options, beam)},
    {"n_best", OPTION_SIZE, offsetof(rapt_translate_options, n_best)},
    {"length_penalty", OPTION_DOUBLE, offsetof(rapt_translate_options, length_penalty)},
    {"coverage_penalty", OPTION_DOUBLE, offsetof(rapt_translate_options, coverage_penalty)},
    {"patience", OPTION_DOUBLE, offsetof(rapt_translate_options, patience)},
    {"no_repeat_ngram", OPTION_SIZE, offsetof(rapt_translate_options, no_repeat)},
    {"max_ratio", OPTION_DOUBLE, offsetof(rapt_translate_options, max_ratio)},
    {"min_length", OPTION_SIZE, offsetof(rapt_translate_options, min_length)},
    {"sample", OPTION_ROWS, offsetof(rapt_translate_options, sample), .rows = sample_option_rows},
    {"prefix", OPTION_TEXT, offsetof(rapt_translate_options, prefix)},
    {"suppress", OPTION_TEXT, offsetof(rapt_translate_options, suppress)},
    {"source", OPTION_TEXT, offsetof(rapt_translate_options, source_language)},
    {"target", OPTION_TEXT, offsetof(rapt_translate_options, target_language)},
    {"as_tokens", OPTION_BOOL, offsetof(rapt_translate_options, as_tokens)},
    {"alignment", OPTION_BOOL, offsetof(rapt_translate_options, alignment)},
    {"split", OPTION_NAME, offsetof(rapt_translate_options, split), SPLITS},
    {"tokens", OPTION_BOOL, offsetof(rapt_translate_options, tokens)},
    {"alternatives", OPTION_BOOL, offsetof(rapt_translate_options, alternatives)},
    {"replace_unknown", OPTION_BOOL, offsetof(rapt_translate_options, replace_unknown)},
    {0}};
/* These decide how weights are packed or lines are cut: a translator has them for good. */
static const char *const OF_TRANSLATOR[] = {"source", "target", "as_tokens", "split", NULL};

int translate_glossary_read(const ext_state *s, PyObject *dict, rapt_glossary **g)
{
    PyObject *list = PyDict_GetItemString(dict, "glossary");
    rapt_error err = {0};
    ext_texts texts = {0};
    *g = NULL;
    if (!list)
        return 0;
    if (list != Py_None) {
        if (ext_sized_read(list, "glossary", &texts) < 0)
            return -1;
        rapt_glossary_term *terms = PyMem_Calloc(texts.count / 2 + 1, sizeof *terms);
        for (size_t i = 0; terms && i + 1 < texts.count; i += 2)
            terms[i / 2] = (rapt_glossary_term){texts.sized[i], texts.sized[i + 1]};
        *g = terms ? rapt_glossary_new("glossary", terms, texts.count / 2, &err) : NULL;
        if (!terms)
            PyErr_NoMemory();
        else if (!*g)
            ext_raise(s, &err);
        PyMem_Free(terms);
        ext_texts_free(&texts);
        if (!*g)
            return -1;
    }
    return PyDict_DelItemString(dict, "glossary");
}

int translate_options_read(PyObject *dict, rapt_translate_options *o)
{
    return options_read(dict, OPTIONS, o);
}

static bool stop_line(void *context, size_t line)
{
    (void)line;
    return ext_call_stop(context);
}

/* [targets, sources + 1]: the last column is <eos>. */
static PyObject *alignment_of(const ext_state *s, const rapt_alignment *al)
{
    float *values;
    size_t width = al->sources + 1;
    PyObject *a = array_make(s, 2, (size_t[]){al->targets, width}, &values);
    for (size_t t = 0; a && t < al->targets; t++) {
        const rapt_alignment_row *row = &al->rows[t];
        memcpy(values + t * width + row->first, row->weights, row->count * sizeof *values);
        values[t * width + al->sources] = row->weights[row->count];
    }
    return a;
}

/* (text, score, log_prob, tokens, log_probs, alignment); the last three are None unless they were asked for. */
static PyObject *hypothesis_of(const ext_state *s, const rapt_hypothesis *h, const rapt_translate_options *o)
{
    PyObject *text = ext_string(h->text);
    PyObject *tokens = o->tokens ? ext_ids_list(h->tokens, h->token_count) : Py_NewRef(Py_None);
    PyObject *log_probs = o->tokens ? ext_doubles_list(h->log_probs, h->token_count) : Py_NewRef(Py_None);
    PyObject *alignment = o->alignment ? alignment_of(s, &h->alignment) : Py_NewRef(Py_None);
    if (text && tokens && log_probs && alignment)
        return Py_BuildValue("(NddNNN)", text, h->score, h->log_prob, tokens, log_probs, alignment);
    Py_XDECREF(text);
    Py_XDECREF(tokens);
    Py_XDECREF(log_probs);
    Py_XDECREF(alignment);
    return NULL;
}

/* (hypotheses, cut, source, unknown words, whether it lacks terms). */
static PyObject *translation_of(const ext_state *s, const rapt_translation *t, const rapt_translate_options *o)
{
    PyObject *list = PyList_New((Py_ssize_t)t->count), *unknown = PyList_New((Py_ssize_t)t->unknown_word_count), *item;
    PyObject *source = o->tokens ? ext_ids_list(t->source, t->source_count) : Py_NewRef(Py_None);
    if (!list || !unknown || !source)
        goto failed;
    for (size_t i = 0; i < t->count; i++) {
        if (!(item = hypothesis_of(s, &t->hypotheses[i], o)) || PyList_SetItem(list, (Py_ssize_t)i, item) < 0)
            goto failed;
    }
    for (size_t i = 0; i < t->unknown_word_count; i++) {
        if (!(item = ext_string(t->unknown_words[i])) || PyList_SetItem(unknown, (Py_ssize_t)i, item) < 0)
            goto failed;
    }
    return Py_BuildValue("(NNNNN)", list, PyBool_FromLong(t->cut), source, unknown, PyBool_FromLong(t->lacks_terms));
failed:
    Py_XDECREF(list);
    Py_XDECREF(unknown);
    Py_XDECREF(source);
    return NULL;
}

/* Makes the translator of the handle; with an option that a translator has for good, one for this call. */
static rapt_translator *translator_for(model *m, const rapt_translate_options *o, bool own, rapt_error *err)
{
    if (own)
        return rapt_translator_new(m->model, o, err);
    if (!m->translator) {
        rapt_translate_options defaults = rapt_translate_options_default();
        defaults.compute = m->compute;
        m->translator = rapt_translator_new(m->model, &defaults, err);
    }
    return m->translator;
}

typedef struct lines {
    ext_texts texts;
    documents documents; /* of the texts, if they are some */
    const rapt_text *line; /* [count] */
    size_t count;
    rapt_text *prefixes; /* [texts.count], or NULL */
    size_t first;
    rapt_translation *out;
} lines;

static rapt_code run(ext_call *c, model *m, const rapt_translate_options *o, bool own, lines *l, rapt_error *err)
{
    rapt_code code = ext_lock(c, &m->lock, err);
    if (code)
        return code;
    rapt_translator *t = translator_for(m, o, own, err);
    const rapt_translator_request request = {.options = o, .prefixes = l->prefixes, .stop = stop_line, .context = c,
                                             .first_line = l->first};
    code = t ? rapt_translator_run(t, &request, l->line, l->count, l->out, err) : err->code;
    if (own)
        rapt_translator_free(t);
    ext_unlock(&m->lock);
    return code;
}

static bool has_own(PyObject *options)
{
    for (size_t i = 0; OF_TRANSLATOR[i]; i++) {
        PyObject *value = PyDict_GetItemString(options, OF_TRANSLATOR[i]);
        if (value && value != Py_None)
            return true;
    }
    return false;
}

static int read_prefixes(PyObject *list, lines *l)
{
    if (list == Py_None)
        return 0;
    if (!PyTuple_Check(list) || (size_t)PyTuple_Size(list) != l->texts.count || l->documents.lines) {
        ext_invalid(l->documents.lines ? "documents take one prefix" : "prefix must have as many texts as there are lines");
        return -1;
    }
    if (!(l->prefixes = PyMem_Calloc(l->texts.count + 1, sizeof *l->prefixes))) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < l->texts.count; i++) {
        PyObject *prefix = PyTuple_GetItem(list, (Py_ssize_t)i);
        if (prefix != Py_None && !ext_sized(prefix, "prefix", &l->prefixes[i]))
            return -1;
    }
    return 0;
}

/* The models of an ensemble, held. */
typedef struct other_models {
    PyObject *handles;          /* a tuple */
    PyObject **holds;           /* [count] */
    const rapt_model **models;  /* [count] */
    size_t count;
} other_models;

static void release_others(other_models *o)
{
    for (size_t i = 0; i < o->count; i++)
        model_end(PyTuple_GetItem(o->handles, (Py_ssize_t)i), o->holds[i]);
    PyMem_Free(o->holds);
    PyMem_Free(o->models);
}

/* Takes the models of a tuple of handles, and holds them. The caller calls release_others, also after a failure. */
static int hold_others(const ext_state *s, PyObject *handles, other_models *o)
{
    const size_t count = (size_t)PyTuple_Size(handles);
    *o = (other_models){.handles = handles, .holds = PyMem_Calloc(count + 1, sizeof *o->holds),
                        .models = PyMem_Calloc(count + 1, sizeof *o->models)};
    if (!o->holds || !o->models) {
        PyErr_NoMemory();
        return -1;
    }
    for (; o->count < count; o->count++) {
        PyObject *handle = PyTuple_GetItem(handles, (Py_ssize_t)o->count);
        if (!PyObject_TypeCheck(handle, (PyTypeObject *)s->model)) {
            ext_wrong_type("an item of ensemble", "a Translator", handle);
            return -1;
        }
        if (!model_begin(handle, &o->holds[o->count]))
            return -1;
        o->models[o->count] = ((model *)handle)->model;
    }
    return 0;
}

/* Takes the texts as lines, or as documents with theirs, and the memory for their translations. */
static int read_lines(const ext_state *s, PyObject *list, PyObject *dict, lines *l)
{
    if (ext_sized_read(list, "text", &l->texts) < 0 || documents_read(s, dict, &l->texts, &l->documents) < 0)
        return -1;
    l->line = l->documents.lines ? l->documents.lines : l->texts.sized;
    l->count = l->documents.lines ? l->documents.line_count : l->texts.count;
    if ((l->out = PyMem_Calloc(l->count + 1, sizeof *l->out)))
        return 0;
    PyErr_NoMemory();
    return -1;
}

PyObject *translations_list(const ext_state *s, const rapt_translation *t, size_t count, const rapt_translate_options *o)
{
    PyObject *list = PyList_New((Py_ssize_t)count), *item;
    for (size_t i = 0; list && i < count; i++) {
        if (!(item = translation_of(s, &t[i], o)) || PyList_SetItem(list, (Py_ssize_t)i, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* translate(lines, options, prefixes or None, should_stop or None, number of the first line, other models): a list of tuples. */
PyObject *model_translate(PyObject *self, PyObject *args)
{
    PyObject *list, *dict, *prefixes, *should_stop, *handles, *result = NULL, *hold;
    unsigned long long first;
    other_models others = {0};
    rapt_glossary *glossary = NULL;
    if (!PyArg_ParseTuple(args, "OO!OOKO!:translate", &list, &PyDict_Type, &dict, &prefixes, &should_stop, &first, &PyTuple_Type,
                          &handles))
        return NULL;
    model *m = (model *)self;
    const ext_state *s = ext_state_of(self);
    if (!model_begin(self, &hold))
        return NULL;
    lines l = {.first = (size_t)first};
    rapt_translate_options o = rapt_translate_options_default();
    o.compute = m->compute;
    if (hold_others(s, handles, &others) < 0)
        goto end;
    o.others = others.models;
    o.other_count = others.count;
    if (translate_glossary_read(s, dict, &glossary) < 0 || read_lines(s, list, dict, &l) < 0 ||
        translate_options_read(dict, &o) < 0 || read_prefixes(prefixes, &l) < 0)
        goto end;
    o.glossary = glossary;
    if (l.documents.lines)
        o.alignment = o.tokens = o.spans = true;
    ext_call c;
    rapt_error err = {0};
    bool own = m->trainable || others.count > 0 || has_own(dict);
    ext_call_begin(&c, should_stop);
    rapt_code code = run(&c, m, &o, own, &l, &err);
    ext_call_end(&c);
    if (!code && ext_call_was_stopped(&c))
        code = rapt_fail(&err, RAPT_ERR_INTERRUPTED, "the translation was cancelled");
    result = code ? ext_raise(s, &err) : l.documents.lines ? documents_list(s, &l.documents, l.out)
                                                           : translations_list(s, l.out, l.count, &o);
    rapt_translations_free(l.out, l.count);
end:
    PyMem_Free(l.out);
    PyMem_Free(l.prefixes);
    documents_free(&l.documents);
    ext_texts_free(&l.texts);
    release_others(&others);
    rapt_glossary_free(glossary);
    model_end(self, hold);
    return result;
}
