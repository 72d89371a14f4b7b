/* tokenizer.c: from texts to ids and back. */
#include <stdlib.h>
#include <string.h>

#include "tokenizer.h"

typedef struct tokenizer {
    PyObject_HEAD
    const rapt_tokenizer *t;
    PyObject *owner;    /* of `t`: a tokenizer or a model */
    PyObject **numbers; /* [size of `t`] the int of each id that has occurred, or NULL; NULL: no batch was encoded yet */
} tokenizer;

PyObject *tokenizer_view(const ext_state *s, const rapt_tokenizer *t, PyObject *owner)
{
    tokenizer *self = (tokenizer *)ext_new(s->tokenizer);
    if (self) {
        self->t = t;
        self->owner = Py_NewRef(owner);
    }
    return (PyObject *)self;
}

const rapt_tokenizer *tokenizer_of(const ext_state *s, PyObject *handle)
{
    if (Py_TYPE(handle) == s->tokenizer)
        return ((tokenizer *)handle)->t;
    ext_wrong_type("tokenizer", "a Tokenizer", handle);
    return NULL;
}

static const rapt_tokenizer *of(PyObject *self)
{
    return ((tokenizer *)self)->t;
}

static void tokenizer_dealloc(PyObject *self)
{
    tokenizer *own = (tokenizer *)self;
    const size_t size = own->numbers ? rapt_tokenizer_size(own->t) : 0;
    for (size_t i = 0; i < size; i++)
        Py_XDECREF(own->numbers[i]);
    PyMem_Free(own->numbers);
    Py_XDECREF(own->owner);
    ext_free(self);
}

/* The int of an id, a new reference. Each is made once: making them for each text of a batch takes longer than encoding. */
static PyObject *number_of(tokenizer *self, size_t size, int32_t id)
{
    if (id < 0 || (size_t)id >= size)
        return PyLong_FromLong(id);
    if (!self->numbers[id])
        self->numbers[id] = PyLong_FromLong(id);
    return Py_XNewRef(self->numbers[id]);
}

static PyObject *list_of(tokenizer *self, const int32_t *ids, size_t count)
{
    const size_t size = rapt_tokenizer_size(self->t);
    if (!self->numbers && !(self->numbers = PyMem_Calloc(size, sizeof *self->numbers)))
        return PyErr_NoMemory();
    PyObject *list = PyList_New((Py_ssize_t)count), *number;
    for (size_t i = 0; list && i < count; i++)
        if (!(number = number_of(self, size, ids[i])) || PyList_SetItem(list, (Py_ssize_t)i, number) < 0)
            Py_CLEAR(list);
    return list;
}

/* encode(text, specials): a list of ids */
static PyObject *encode(PyObject *self, PyObject *args)
{
    PyObject *text;
    int specials;
    ext_bytes b;
    if (!PyArg_ParseTuple(args, "Op:encode", &text, &specials) || ext_bytes_read(text, "text", true, &b) < 0)
        return NULL;
    rapt_encode_options o = rapt_encode_options_default();
    o.specials = specials;
    int32_t *ids;
    size_t count;
    ext_call c;
    rapt_error err = {0};
    ext_call_begin(&c, NULL);
    rapt_code code = rapt_tokenizer_encode_bytes(of(self), b.data, b.size, &o, &ids, &count, &err);
    ext_call_end(&c);
    ext_bytes_free(&b);
    if (code)
        return ext_raise(ext_state_of(self), &err);
    /* A model's tokenizer may be made for one text, which is not worth a table. */
    PyObject *list = ((tokenizer *)self)->numbers ? list_of((tokenizer *)self, ids, count) : ext_ids_list(ids, count);
    free(ids);
    return list;
}

static PyObject *lists_of(tokenizer *self, const int32_t *ids, const size_t *starts, size_t count)
{
    PyObject *lists = PyList_New((Py_ssize_t)count), *item;
    for (size_t i = 0; lists && i < count; i++) {
        if (!(item = list_of(self, ids + starts[i], starts[i + 1] - starts[i])) || PyList_SetItem(lists, (Py_ssize_t)i, item) < 0)
            Py_CLEAR(lists);
    }
    return lists;
}

/* encode_batch(texts, specials, threads): a list of lists of ids */
static PyObject *encode_batch(PyObject *self, PyObject *args)
{
    PyObject *sequence, *lists = NULL;
    int specials, threads;
    if (!PyArg_ParseTuple(args, "Opi:encode_batch", &sequence, &specials, &threads))
        return NULL;
    ext_texts texts;
    if (ext_sized_read(sequence, "text", &texts) < 0)
        return NULL;
    rapt_encode_options o = rapt_encode_options_default();
    o.specials = specials;
    o.threads = threads;
    int32_t *ids;
    size_t *starts;
    ext_call c;
    rapt_error err = {0};
    ext_call_begin(&c, NULL);
    rapt_code code = rapt_tokenizer_encode_batch(of(self), texts.sized, texts.count, &o, &ids, &starts, &err);
    ext_call_end(&c);
    if (code) {
        ext_raise(ext_state_of(self), &err);
    } else {
        lists = lists_of((tokenizer *)self, ids, starts, texts.count);
        free(ids);
        free(starts);
    }
    ext_texts_free(&texts);
    return lists;
}

/* A place in UTF-8: so many characters begin before byte `at`. */
typedef struct text_place {
    size_t at, characters;
} text_place;

static Py_ssize_t characters_before(text_place *p, const char *text, size_t to)
{
    while (p->at < to)
        p->characters += ((unsigned char)text[p->at++] & 0xc0) != 0x80;
    while (p->at > to)
        p->characters -= ((unsigned char)text[--p->at] & 0xc0) != 0x80;
    return (Py_ssize_t)p->characters;
}

/* Bytes become characters. */
static PyObject *spans_of(const char *text, const rapt_span *spans, size_t count)
{
    text_place place = {0};
    PyObject *list = PyList_New((Py_ssize_t)count), *item;
    for (size_t i = 0; list && i < count; i++) {
        Py_ssize_t begin = characters_before(&place, text, spans[i].begin);
        Py_ssize_t end = characters_before(&place, text, spans[i].end);
        if (!(item = Py_BuildValue("(nn)", begin, end)) || PyList_SetItem(list, (Py_ssize_t)i, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* Ids as an array of int32, whose memory it takes. */
static PyObject *ids_array(const ext_state *s, int32_t *ids, size_t count)
{
    PyObject *owner = owner_new(s, ids, free, NULL);
    const array_of of = {.data = ids, .ndim = 1, .shape = {count}, .is_int = true, .writable = true, .axes = "time"};
    PyObject *a = owner ? array_new(s, &of, owner) : NULL;
    Py_XDECREF(owner);
    return a;
}

/* The texts of ids; bytes that are no characters by themselves become U+FFFD. */
static PyObject *tokens_of(const rapt_tokenizer *t, const int32_t *ids, size_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count), *item;
    for (size_t i = 0; list && i < count; i++) {
        size_t size = 0;
        const char *bytes = rapt_tokenizer_token(t, ids[i], &size);
        item = PyUnicode_DecodeUTF8(bytes ? bytes : "", (Py_ssize_t)(bytes ? size : 0), "replace");
        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* encoding(text, specials): (ids, tokens, offsets) */
static PyObject *encoding(PyObject *self, PyObject *args)
{
    PyObject *text, *result = NULL;
    int specials;
    ext_bytes b;
    if (!PyArg_ParseTuple(args, "Up:encoding", &text, &specials) || ext_bytes_read(text, "text", true, &b) < 0)
        return NULL;
    const ext_state *s = ext_state_of(self);
    rapt_encode_options o = rapt_encode_options_default();
    o.specials = specials;
    int32_t *ids;
    rapt_span *spans;
    size_t count;
    ext_call c;
    rapt_error err = {0};
    ext_call_begin(&c, NULL);
    rapt_code code = rapt_tokenizer_encode_offsets(of(self), &(rapt_text){b.data, b.size}, &o, &ids, &spans, &count, &err);
    ext_call_end(&c);
    if (code) {
        ext_raise(s, &err);
    } else {
        PyObject *tokens = tokens_of(of(self), ids, count), *offsets = spans_of(b.data, spans, count);
        PyObject *array = ids_array(s, ids, count);
        free(spans);
        if (tokens && offsets && array)
            result = PyTuple_Pack(3, array, tokens, offsets);
        Py_XDECREF(tokens);
        Py_XDECREF(offsets);
        Py_XDECREF(array);
    }
    ext_bytes_free(&b);
    return result;
}

/* decode(ids, as_bytes) */
static PyObject *decode(PyObject *self, PyObject *args)
{
    PyObject *list;
    int as_bytes;
    ext_ids ids;
    if (!PyArg_ParseTuple(args, "Op:decode", &list, &as_bytes) || ext_ids_read(list, "ids", &ids) < 0)
        return NULL;
    size_t size;
    ext_call c;
    ext_call_begin(&c, NULL);
    char *text = rapt_tokenizer_decode(of(self), ids.ids, ids.count, &size);
    ext_call_end(&c);
    ext_ids_free(&ids);
    if (!text)
        return PyErr_NoMemory();
    PyObject *result = as_bytes ? PyBytes_FromStringAndSize(text, (Py_ssize_t)size)
                                : PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "replace");
    free(text);
    return result;
}

/* token(id): bytes or None */
static PyObject *token(PyObject *self, PyObject *number)
{
    int32_t id;
    size_t size;
    if (ext_id_read(number, "id", &id) < 0)
        return NULL;
    const char *bytes = rapt_tokenizer_token(of(self), id, &size);
    return bytes ? PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size) : Py_NewRef(Py_None);
}

/* special(text): an id or None */
static PyObject *special(PyObject *self, PyObject *text)
{
    const char *name = ext_text(text, "text");
    if (!name)
        return NULL;
    int32_t id = rapt_tokenizer_special(of(self), name);
    return id < 0 ? Py_NewRef(Py_None) : PyLong_FromLong(id);
}

static PyObject *kind(PyObject *self, PyObject *unused)
{
    (void)unused;
    static const char *const names[] = {
        [RAPT_TOKENIZER_WORDS] = "words", [RAPT_TOKENIZER_CHARACTERS] = "characters", [RAPT_TOKENIZER_BYTE_BPE] = "byte_bpe",
        [RAPT_TOKENIZER_SENTENCEPIECE] = "sentencepiece", [RAPT_TOKENIZER_PIPELINE] = "pipeline"};
    return PyUnicode_FromString(names[rapt_tokenizer_kind_of(of(self))]);
}

static PyObject *size(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyLong_FromSize_t(rapt_tokenizer_size(of(self)));
}

static PyObject *hash(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(rapt_tokenizer_hash(of(self)));
}

static PyObject *save(PyObject *self, PyObject *path)
{
    const char *file;
    PyObject *bytes = ext_path(path, &file);
    if (!bytes)
        return NULL;
    ext_call c;
    rapt_error err = {0};
    ext_call_begin(&c, NULL);
    rapt_code code = rapt_tokenizer_save(of(self), file, &err);
    ext_call_end(&c);
    Py_DECREF(bytes);
    return code ? ext_raise(ext_state_of(self), &err) : Py_NewRef(Py_None);
}

static PyObject *to_bytes(PyObject *self, PyObject *unused)
{
    (void)unused;
    char *bytes;
    size_t count;
    ext_call c;
    rapt_error err = {0};
    ext_call_begin(&c, NULL);
    rapt_code code = rapt_tokenizer_save_bytes(of(self), &bytes, &count, &err);
    ext_call_end(&c);
    if (code)
        return ext_raise(ext_state_of(self), &err);
    PyObject *result = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)count);
    free(bytes);
    return result;
}

static PyMethodDef tokenizer_methods[] = {
    {"encode", encode, METH_VARARGS, NULL},
    {"encode_batch", encode_batch, METH_VARARGS, NULL},
    {"encoding", encoding, METH_VARARGS, NULL},
    {"decode", decode, METH_VARARGS, NULL},
    {"token", token, METH_O, NULL},
    {"special", special, METH_O, NULL},
    {"kind", kind, METH_NOARGS, NULL},
    {"size", size, METH_NOARGS, NULL},
    {"hash", hash, METH_NOARGS, NULL},
    {"save", save, METH_O, NULL},
    {"to_bytes", to_bytes, METH_NOARGS, NULL},
    {0}};
static PyType_Slot tokenizer_slots[] = {{Py_tp_dealloc, tokenizer_dealloc}, {Py_tp_methods, tokenizer_methods}, {0}};
PyType_Spec tokenizer_spec = {"rapt._rapt.Tokenizer", sizeof(tokenizer), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, tokenizer_slots};
