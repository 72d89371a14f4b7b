/* tokenizer_make.c: tokenizers from files, from bytes and by training. */
#include <stddef.h>

#include "tokenizer.h"

static void free_tokenizer(void *t)
{
    rapt_tokenizer_free(t);
}

/* The handle of a new tokenizer, or NULL with the failure raised. */
static PyObject *handle_of(const ext_state *s, rapt_tokenizer *t, const rapt_error *err)
{
    PyObject *owner = t ? owner_new(s, t, free_tokenizer, NULL) : ext_raise(s, err);
    PyObject *handle = owner ? tokenizer_view(s, t, owner) : NULL;
    Py_XDECREF(owner);
    return handle;
}

/* tokenizer_load(path) */
static PyObject *load(PyObject *module, PyObject *path)
{
    const char *spec;
    PyObject *bytes = ext_path(path, &spec);
    if (!bytes)
        return NULL;
    ext_call c;
    rapt_error err = {0};
    ext_call_begin(&c, NULL);
    rapt_tokenizer *t = rapt_tokenizer_load(spec, &err);
    ext_call_end(&c);
    Py_DECREF(bytes);
    return handle_of(PyModule_GetState(module), t, &err);
}

/* tokenizer_from_bytes(bytes) */
static PyObject *from_bytes(PyObject *module, PyObject *data)
{
    ext_bytes b;
    if (ext_bytes_read(data, "data", false, &b) < 0)
        return NULL;
    ext_call c;
    rapt_error err = {0};
    ext_call_begin(&c, NULL);
    rapt_tokenizer *t = rapt_tokenizer_load_bytes(b.data, b.size, &err);
    ext_call_end(&c);
    ext_bytes_free(&b);
    return handle_of(PyModule_GetState(module), t, &err);
}

static const char *const NORMALIZATIONS[] = {"none", "nfc", "plain", "plain_lowercase", NULL};
static const option_row BPE[] = {
    {"vocab_size", OPTION_SIZE, offsetof(rapt_bpe_options, vocab_size)},
    {"min_freq", OPTION_SIZE, offsetof(rapt_bpe_options, min_freq)},
    {"pattern", OPTION_TEXT, offsetof(rapt_bpe_options, pattern)},
    {"normalization", OPTION_NAME, offsetof(rapt_bpe_options, normalization), NORMALIZATIONS},
    {"specials_first", OPTION_BOOL, offsetof(rapt_bpe_options, specials_first)},
    {"threads", OPTION_INT, offsetof(rapt_bpe_options, threads)},
    {0}};

/* train_bpe(text, specials, options) */
static PyObject *train_bpe(PyObject *module, PyObject *args)
{
    PyObject *text, *specials, *dict, *handle = NULL;
    if (!PyArg_ParseTuple(args, "OOO!:train_bpe", &text, &specials, &PyDict_Type, &dict))
        return NULL;
    ext_bytes b = {0};
    ext_texts names = {0};
    rapt_bpe_options o = rapt_bpe_options_default();
    ext_call c;
    rapt_error err = {0};
    if (options_read(dict, BPE, &o) < 0 || ext_texts_read(specials, "specials", &names) < 0 ||
        ext_bytes_read(text, "text", true, &b) < 0)
        goto end;
    o.specials = names.texts;
    o.special_count = names.count;
    o.stop = ext_call_stop;
    o.stop_context = &c;
    ext_call_begin(&c, NULL);
    rapt_tokenizer *t = rapt_tokenizer_train_bpe(b.data, b.size, &o, &err);
    ext_call_end(&c);
    handle = handle_of(PyModule_GetState(module), t, &err);
end:
    ext_bytes_free(&b);
    ext_texts_free(&names);
    return handle;
}

static const option_row WORDS[] = {
    {"lowercase", OPTION_BOOL, offsetof(rapt_words_options, lowercase)},
    {"min_freq", OPTION_SIZE, offsetof(rapt_words_options, min_freq)},
    {"max_size", OPTION_SIZE, offsetof(rapt_words_options, max_size)},
    {0}};

/* train_words(lines, options) */
static PyObject *train_words(PyObject *module, PyObject *args)
{
    PyObject *list, *dict;
    rapt_words_options o = rapt_words_options_default();
    ext_texts lines;
    if (!PyArg_ParseTuple(args, "OO!:train_words", &list, &PyDict_Type, &dict) || options_read(dict, WORDS, &o) < 0 ||
        ext_texts_read(list, "line", &lines) < 0)
        return NULL;
    ext_call c;
    rapt_error err = {0};
    ext_call_begin(&c, NULL);
    rapt_tokenizer *t = rapt_tokenizer_train_words(lines.texts, lines.count, &o, &err);
    ext_call_end(&c);
    ext_texts_free(&lines);
    return handle_of(PyModule_GetState(module), t, &err);
}

static const option_row CHARACTERS[] = {
    {"specials_first", OPTION_BOOL, offsetof(rapt_characters_options, specials_first)},
    {0}};

/* train_characters(text, options) */
static PyObject *train_characters(PyObject *module, PyObject *args)
{
    PyObject *text, *dict;
    rapt_characters_options o = rapt_characters_options_default();
    ext_bytes b;
    if (!PyArg_ParseTuple(args, "OO!:train_characters", &text, &PyDict_Type, &dict) || options_read(dict, CHARACTERS, &o) < 0 ||
        ext_bytes_read(text, "text", true, &b) < 0)
        return NULL;
    ext_call c;
    rapt_error err = {0};
    ext_call_begin(&c, NULL);
    rapt_tokenizer *t = rapt_tokenizer_train_characters_with(b.data, b.size, &o, &err);
    ext_call_end(&c);
    ext_bytes_free(&b);
    return handle_of(PyModule_GetState(module), t, &err);
}

PyMethodDef tokenizer_functions[] = {
    {"tokenizer_load", load, METH_O, NULL},
    {"tokenizer_from_bytes", from_bytes, METH_O, NULL},
    {"train_bpe", train_bpe, METH_VARARGS, NULL},
    {"train_words", train_words, METH_VARARGS, NULL},
    {"train_characters", train_characters, METH_VARARGS, NULL},
    {0}};
