/* model_files.c: models to and from folders and files, beyond loading. */
#include <stddef.h>
#include <stdlib.h>

#include "model.h"

#include "rapt/train.h"

/* load_checkpoint(folder, step, options) */
static PyObject *load_checkpoint(PyObject *module, PyObject *args)
{
    PyObject *path, *dict;
    unsigned long long step;
    if (!PyArg_ParseTuple(args, "OKO!:load_checkpoint", &path, &step, &PyDict_Type, &dict))
        return NULL;
    const ext_state *s = PyModule_GetState(module);
    const char *folder;
    PyObject *bytes = ext_path(path, &folder);
    model *m = bytes ? model_new(s, dict) : NULL;
    if (!m) {
        Py_XDECREF(bytes);
        return NULL;
    }
    ext_call c;
    rapt_error err = {0};
    ext_call_begin(&c, NULL);
    rapt_model *loaded = rapt_model_load_checkpoint(folder, step, &err);
    ext_call_end(&c);
    Py_DECREF(bytes);
    return model_take(s, m, loaded, &err);
}

/* checkpoint_steps(folder): a list of int */
static PyObject *checkpoint_steps(PyObject *module, PyObject *path)
{
    const char *folder;
    PyObject *bytes = ext_path(path, &folder);
    uint64_t *steps;
    size_t count;
    rapt_error err = {0};
    if (!bytes)
        return NULL;
    rapt_code code = rapt_checkpoint_steps(folder, &steps, &count, &err);
    Py_DECREF(bytes);
    if (code)
        return ext_raise(PyModule_GetState(module), &err);
    PyObject *list = PyList_New((Py_ssize_t)count), *step;
    for (size_t i = 0; list && i < count; i++) {
        if (!(step = PyLong_FromUnsignedLongLong(steps[i])) || PyList_SetItem(list, (Py_ssize_t)i, step) < 0)
            Py_CLEAR(list);
    }
    free(steps);
    return list;
}

/* average(run, out, count) */
static PyObject *average(PyObject *module, PyObject *args)
{
    PyObject *run, *out;
    Py_ssize_t count;
    if (!PyArg_ParseTuple(args, "OOn:average", &run, &out, &count))
        return NULL;
    if (count < 0) {
        ext_invalid("count is %zd; it must be 0 or more", count);
        return NULL;
    }
    const char *from, *to;
    PyObject *from_bytes = ext_path(run, &from), *to_bytes = from_bytes ? ext_path(out, &to) : NULL;
    rapt_code code = RAPT_OK;
    rapt_error err = {0};
    if (to_bytes) {
        ext_call c;
        ext_call_begin(&c, NULL);
        code = rapt_average(from, (size_t)count, to, &err);
        ext_call_end(&c);
    }
    Py_XDECREF(from_bytes);
    Py_XDECREF(to_bytes);
    if (code)
        ext_raise(PyModule_GetState(module), &err);
    return to_bytes && !code ? Py_NewRef(Py_None) : NULL;
}

/* compute(): (threads, ISA) with which models compute that are loaded without options */
static PyObject *compute(PyObject *module, PyObject *unused)
{
    (void)unused;
    rapt_error err = {0};
    rapt_tape *t = rapt_tape_new(NULL, &err);
    if (!t)
        return ext_raise(PyModule_GetState(module), &err);
    PyObject *result = Py_BuildValue("(is)", rapt_tape_threads(t), rapt_tape_isa(t));
    rapt_tape_free(t);
    return result;
}

/* The shape of a tuple of int: its product is *count. */
static int read_shape(PyObject *tuple, array_of *a, size_t *count)
{
    a->ndim = (int)PyTuple_Size(tuple);
    *count = 1;
    for (int i = 0; i < a->ndim && i < RAPT_MAX_DIMS; i++) {
        a->shape[i] = PyLong_AsSize_t(PyTuple_GetItem(tuple, i));
        if (PyErr_Occurred())
            return -1;
        *count = a->shape[i] && *count > PTRDIFF_MAX / 4 / a->shape[i] ? SIZE_MAX : *count * a->shape[i];
    }
    return 0;
}

/* array_of(buffer, offset, shape, name or None, axes or None, is_int): a read-only array of a buffer, which it keeps alive */
static PyObject *array_of_buffer(PyObject *module, PyObject *args)
{
    PyObject *buffer, *shape, *result = NULL;
    Py_ssize_t offset;
    Py_buffer view;
    array_of a = {0};
    int is_int;
    size_t count;
    if (!PyArg_ParseTuple(args, "OnO!zzp:array_of", &buffer, &offset, &PyTuple_Type, &shape, &a.name, &a.axes, &is_int) ||
        read_shape(shape, &a, &count) < 0)
        return NULL;
    a.is_int = is_int;
    PyObject *owner = PyMemoryView_FromObject(buffer); // as long as it lives, the buffer stays where it is
    if (!owner || PyObject_GetBuffer(owner, &view, PyBUF_SIMPLE) < 0) {
        Py_XDECREF(owner);
        return NULL;
    }
    if (a.ndim > RAPT_MAX_DIMS || offset < 0 || offset % 4 || offset > view.len || count > (size_t)(view.len - offset) / 4)
        ext_invalid("%s does not fit the buffer", a.name ? a.name : "the array");
    else {
        a.data = (char *)view.buf + offset;
        result = array_new(PyModule_GetState(module), &a, owner);
    }
    PyBuffer_Release(&view);
    Py_DECREF(owner);
    return result;
}

PyMethodDef model_files_functions[] = {
    {"load_checkpoint", load_checkpoint, METH_VARARGS, NULL},
    {"checkpoint_steps", checkpoint_steps, METH_O, NULL},
    {"average", average, METH_VARARGS, NULL},
    {"compute", compute, METH_NOARGS, NULL},
    {"array_of", array_of_buffer, METH_VARARGS, NULL},
    {0}};

/* Writes a model, or a part of it, into a folder. */
static PyObject *save_with(PyObject *self, PyObject *path, rapt_code (*save)(const rapt_model *, const char *, rapt_error *))
{
    const char *folder;
    PyObject *hold, *bytes = ext_path(path, &folder);
    if (!bytes || !model_begin(self, &hold)) {
        Py_XDECREF(bytes);
        return NULL;
    }
    ext_call c;
    rapt_error err = {0};
    ext_call_begin(&c, NULL);
    rapt_code code = save(((model *)self)->model, folder, &err);
    ext_call_end(&c);
    Py_DECREF(bytes);
    model_end(self, hold);
    return code ? ext_raise(ext_state_of(self), &err) : Py_NewRef(Py_None);
}

/* save(folder) */
PyObject *model_save(PyObject *self, PyObject *path)
{
    return save_with(self, path, rapt_model_save);
}

/* save_config(folder): config.json and the tokenizers, into a folder that is there */
PyObject *model_save_config(PyObject *self, PyObject *path)
{
    return save_with(self, path, rapt_model_save_config);
}

static const char *const FORMATS[] = {
    [RAPT_EXPORT_HF] = "hf", [RAPT_EXPORT_CTRANSLATE2] = "ctranslate2", [RAPT_EXPORT_GGUF] = "gguf", [RAPT_EXPORT_RAPT] = "rapt",
    NULL};
static const option_row EXPORT[] = {
    {"to", OPTION_NAME, offsetof(rapt_export_options, to), FORMATS},
    {"weights", OPTION_TYPE, offsetof(rapt_export_options, weights)},
    {0}};

typedef struct export_call {
    ext_call call;
    PyObject *on_progress; /* or NULL */
} export_call;

static bool stop_export(void *context)
{
    return ext_call_stop(&((export_call *)context)->call);
}

static void on_progress(void *context, size_t tensor, size_t count)
{
    export_call *e = context;
    if (!e->on_progress || ext_call_was_stopped(&e->call)) // an exception is set
        return;
    ext_callback_begin(&e->call);
    PyObject *answer = PyObject_CallFunction(e->on_progress, "nn", (Py_ssize_t)tensor, (Py_ssize_t)count);
    Py_XDECREF(answer);
    ext_callback_end(&e->call, !answer, NULL);
}

/* export(path, options, on_progress or None) */
PyObject *model_export(PyObject *self, PyObject *args)
{
    PyObject *path, *dict, *progress, *hold;
    rapt_export_options o = rapt_export_options_default();
    const char *out;
    if (!PyArg_ParseTuple(args, "OO!O:export", &path, &PyDict_Type, &dict, &progress) || options_read(dict, EXPORT, &o) < 0)
        return NULL;
    PyObject *bytes = ext_path(path, &out);
    if (!bytes || !model_begin(self, &hold)) {
        Py_XDECREF(bytes);
        return NULL;
    }
    export_call e = {.on_progress = progress == Py_None ? NULL : progress};
    rapt_error err = {0};
    o.stop = stop_export;
    o.on_progress = on_progress;
    o.context = &e;
    ext_call_begin(&e.call, NULL);
    rapt_code code = rapt_model_export(((model *)self)->model, out, &o, &err);
    ext_call_end(&e.call);
    Py_DECREF(bytes);
    model_end(self, hold);
    return code || PyErr_Occurred() ? ext_raise(ext_state_of(self), &err) : Py_NewRef(Py_None);
}
