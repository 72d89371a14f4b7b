/* model.c: a loaded model: loading, its parameters in place, closing. */
#define _GNU_SOURCE /* nanosleep */
#include <stddef.h>
#include <time.h>

#include "generate.h"
#include "tokenizer.h"

#include "rapt/io.h"

static const option_row COMPUTE[] = {
    {"threads", OPTION_INT, offsetof(rapt_compute, threads)},
    {"isa", OPTION_TEXT, offsetof(rapt_compute, isa)},
    {"precision", OPTION_TYPE, offsetof(rapt_compute, type)},
    {"weights", OPTION_TEXT, offsetof(rapt_compute, weights)},
    {"kv_cache", OPTION_TYPE, offsetof(rapt_compute, kv_cache)},
    {0}};

static void free_model(void *m)
{
    rapt_model_free(m);
}

model *model_new(const ext_state *s, PyObject *options)
{
    model *m = (model *)ext_new(s->model);
    if (!m)
        return NULL;
    m->options = Py_NewRef(options);
    m->lock.lock = PyThread_allocate_lock();
    if (!m->lock.lock)
        PyErr_NoMemory();
    if (!m->lock.lock || options_read(options, COMPUTE, &m->compute) < 0) {
        Py_DECREF((PyObject *)m);
        return NULL;
    }
    return m;
}

PyObject *model_take(const ext_state *s, model *m, rapt_model *loaded, const rapt_error *err)
{
    m->model = loaded;
    if (loaded)
        m->owner = owner_new(s, loaded, free_model, NULL);
    else
        ext_raise(s, err);
    if (m->owner)
        return (PyObject *)m;
    Py_DECREF((PyObject *)m);
    return NULL;
}

static PyObject *load(PyObject *module, PyObject *args)
{
    PyObject *path, *adapter, *compute, *should_stop, *result = NULL;
    int trainable;
    if (!PyArg_ParseTuple(args, "OOpO!O:load", &path, &adapter, &trainable, &PyDict_Type, &compute, &should_stop))
        return NULL;
    ext_state *s = PyModule_GetState(module);
    rapt_load_options options = rapt_load_options_default();
    const char *folder;
    PyObject *adapter_bytes = adapter == Py_None ? Py_NewRef(Py_None) : ext_path(adapter, &options.adapter);
    PyObject *bytes = adapter_bytes ? ext_path(path, &folder) : NULL;
    model *m = bytes ? model_new(s, compute) : NULL;
    if (!m)
        goto end;
    ext_call c;
    rapt_error err = {0};
    options.inference = !trainable;
    options.stop = ext_call_stop;
    options.context = &c;
    ext_call_begin(&c, should_stop);
    rapt_model *loaded = rapt_model_load(folder, &options, &err);
    ext_call_end(&c);
    m->trainable = trainable;
    result = model_take(s, m, loaded, &err);
end:
    Py_XDECREF(bytes);
    Py_XDECREF(adapter_bytes);
    return result;
}

PyObject *model_view(const ext_state *s, rapt_model *lent, int threads, PyObject *under)
{
    PyObject *options = PyDict_New();
    model *m = options ? model_new(s, options) : NULL;
    Py_XDECREF(options);
    if (!m)
        return NULL;
    m->compute.threads = threads;
    m->model = lent;
    m->lent = true;
    if (!(m->owner = owner_new(s, NULL, NULL, under))) {
        Py_DECREF((PyObject *)m);
        return NULL;
    }
    return (PyObject *)m;
}

rapt_model *model_hold(PyObject *self, PyObject **hold)
{
    model *m = (model *)self;
    if (!m->owner) {
        PyErr_SetString(PyExc_ValueError, "the model is closed");
        return NULL;
    }
    *hold = Py_NewRef(m->owner);
    return m->model;
}

bool model_begin(PyObject *self, PyObject **hold)
{
    if (!model_hold(self, hold))
        return false;
    ((model *)self)->calls++;
    return true;
}

void model_end(PyObject *self, PyObject *hold)
{
    ((model *)self)->calls--;
    Py_DECREF(hold);
}

static PyObject *model_task(PyObject *self, PyObject *unused)
{
    (void)unused;
    static const char *const names[] = {[RAPT_TASK_TRANSLATION] = "translation", [RAPT_TASK_LANGUAGE_MODEL] = "language_model",
                                        [RAPT_TASK_ENCODER] = "encoder", [RAPT_TASK_CROSS_ENCODER] = "cross_encoder"};
    PyObject *hold;
    rapt_model *m = model_hold(self, &hold);
    if (!m)
        return NULL;
    PyObject *name = PyUnicode_FromString(names[rapt_model_task(m)]);
    Py_DECREF(hold);
    return name;
}

/* A dict of all parameters, in order. Of a model for inference they are read-only: its matrices are packed from its files. */
static PyObject *model_parameters(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *hold;
    rapt_model *m = model_hold(self, &hold);
    PyObject *dict = m ? PyDict_New() : NULL;
    for (size_t i = 0; dict && i < rapt_params_count(rapt_model_params(m)); i++) {
        const rapt_param *p = rapt_params_at(rapt_model_params(m), i);
        array_of of = {.data = p->value.data, .ndim = p->value.ndim, .name = p->value.name};
        of.writable = ((model *)self)->trainable;
        for (int d = 0; d < of.ndim; d++)
            of.shape[d] = p->value.shape[d];
        PyObject *a = array_new(ext_state_of(self), &of, hold);
        if (!a || PyDict_SetItemString(dict, p->value.name, a) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(a);
    }
    if (m)
        Py_DECREF(hold);
    return dict;
}

/* tokenizer(of_target) */
static PyObject *model_tokenizer(PyObject *self, PyObject *args)
{
    int of_target;
    PyObject *hold;
    if (!PyArg_ParseTuple(args, "p:tokenizer", &of_target))
        return NULL;
    const rapt_model *m = model_hold(self, &hold);
    if (!m)
        return NULL;
    const rapt_tokenizer *t = of_target ? rapt_model_target_tokenizer(m) : rapt_model_source_tokenizer(m);
    PyObject *view = tokenizer_view(ext_state_of(self), t, hold);
    Py_DECREF(hold);
    return view;
}

static void release(model *m)
{
    rapt_translator_free(m->translator);
    m->translator = NULL;
    generation_free(m->idle);
    m->idle = NULL;
    rapt_chat_template_free(m->chat);
    m->chat = NULL;
    m->model = NULL;
    Py_CLEAR(m->owner);
}

static PyObject *model_close(PyObject *self, PyObject *unused)
{
    (void)unused;
    model *m = (model *)self;
    if (m->owner && !owner_is_sole(m->owner)) {
        PyErr_SetString(PyExc_BufferError, "the model is in use, by arrays of it or by a call in another thread");
        return NULL;
    }
    release(m);
    Py_RETURN_NONE;
}

/* Closes the handle of a model that is about to change, though arrays of it may be in use; waits for calls in other threads. */
static PyObject *model_expire(PyObject *self, PyObject *unused)
{
    (void)unused;
    model *m = (model *)self;
    for (;;) {
        Py_BEGIN_ALLOW_THREADS
        PyThread_acquire_lock(m->lock.lock, 1);
        Py_END_ALLOW_THREADS
        if (!m->calls)
            break;
        PyThread_release_lock(m->lock.lock); // calls may want it
        Py_BEGIN_ALLOW_THREADS
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        Py_END_ALLOW_THREADS
    }
    release(m);
    PyThread_release_lock(m->lock.lock);
    Py_RETURN_NONE;
}

static void model_dealloc(PyObject *self)
{
    model *m = (model *)self;
    release(m);
    Py_XDECREF(m->options);
    if (m->lock.lock)
        PyThread_free_lock(m->lock.lock);
    ext_free(self);
}

PyMethodDef model_functions[] = {{"load", load, METH_VARARGS, NULL}, {0}};
static PyMethodDef model_methods[] = {
    {"task", model_task, METH_NOARGS, NULL},
    {"parameters", model_parameters, METH_NOARGS, NULL},
    {"tokenizer", model_tokenizer, METH_VARARGS, NULL},
    {"close", model_close, METH_NOARGS, NULL},
    {"expire", model_expire, METH_NOARGS, NULL},
    {"translate", model_translate, METH_VARARGS, NULL},
    {"save", model_save, METH_O, NULL},
    {"save_config", model_save_config, METH_O, NULL},
    {"export", model_export, METH_VARARGS, NULL},
    {"load_state", model_load_state, METH_VARARGS, NULL},
    {"score_pairs", model_score_pairs, METH_VARARGS, NULL},
    {"pairs_loss", model_pairs_loss, METH_VARARGS, NULL},
    {"book", model_book, METH_NOARGS, NULL},
    {"generate", model_generate, METH_VARARGS, NULL},
    {"stream", model_stream, METH_VARARGS, NULL},
    {"next_token", model_next_token, METH_VARARGS, NULL},
    {"chat_prompt", model_chat_prompt, METH_VARARGS, NULL},
    {"chat_calls", model_chat_calls, METH_VARARGS, NULL},
    {"score", model_score, METH_VARARGS, NULL},
    {"loss", model_loss, METH_VARARGS, NULL},
    {"embed", model_embed, METH_VARARGS, NULL},
    {"rerank", model_rerank, METH_VARARGS, NULL},
    {"explain", model_explain, METH_VARARGS, NULL},
    {"heads", model_heads, METH_NOARGS, NULL},
    {"without_heads", model_without_heads, METH_O, NULL},
    {0}};
static PyType_Slot model_slots[] = {{Py_tp_dealloc, model_dealloc}, {Py_tp_methods, model_methods}, {0}};
PyType_Spec model_spec = {"rapt._rapt.Model", sizeof(model), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                          model_slots};
