/* engine.c: many requests at once. An engine's thread computes; it takes the interpreter's lock only to hand over a result. */
#include <stddef.h>
#include <stdlib.h>

#include "engine.h"

/* A model that the engine serves, which stays the caller's. */
typedef struct served {
    rapt_engine_model *m;
    const rapt_model *model;
    PyObject *hold, *options; /* the owner of the model, and the dict that its options point into */
} served;

/* An engine with what it uses. */
typedef struct served_models {
    rapt_engine *e;
    served *list;
    size_t count;
} served_models;

typedef struct engine {
    PyObject_HEAD
    served_models *of; /* NULL: closed */
    size_t calls;      /* of threads that are in the library */
} engine;

static PyObject *new_engine(PyObject *module, PyObject *args)
{
    int threads;
    if (!PyArg_ParseTuple(args, "i:engine", &threads))
        return NULL;
    ext_state *s = PyModule_GetState(module);
    rapt_engine_options o = rapt_engine_options_default();
    rapt_error err = {0};
    o.threads = threads;
    engine *self = (engine *)ext_new(s->engine);
    if (!self)
        return NULL;
    if (!(self->of = calloc(1, sizeof *self->of)))
        PyErr_NoMemory();
    else if (!(self->of->e = rapt_engine_new(&o, &err)))
        ext_raise(s, &err);
    if (PyErr_Occurred())
        Py_CLEAR(self);
    return (PyObject *)self;
}

/* A Py_AddPendingCall function, or called by any thread but the engine's. Waits for the end of all jobs. */
static int free_models(void *models)
{
    served_models *of = models;
    Py_BEGIN_ALLOW_THREADS
    rapt_engine_free(of->e);
    Py_END_ALLOW_THREADS
    for (size_t i = 0; i < of->count; i++) {
        Py_DECREF(of->list[i].hold);
        Py_DECREF(of->list[i].options);
    }
    free(of->list);
    free(of);
    return 0;
}

static bool engine_begin(engine *self)
{
    if (!self->of) {
        PyErr_SetString(PyExc_ValueError, "the engine is closed");
        return false;
    }
    self->calls++;
    return true;
}

static PyObject *engine_close(PyObject *handle, PyObject *unused)
{
    (void)unused;
    engine *self = (engine *)handle;
    if (self->calls) {
        PyErr_SetString(PyExc_BufferError, "the engine is in use by another thread");
        return NULL;
    }
    served_models *of = self->of;
    if (of && engine_job_in_callback()) {
        PyErr_SetString(PyExc_BufferError, "the engine's own thread cannot close it");
        return NULL;
    }
    self->of = NULL;
    if (of)
        free_models(of);
    Py_RETURN_NONE;
}

/* The last reference may go in a callback, and the engine's thread cannot wait for its own end. */
static void engine_dealloc(PyObject *handle)
{
    served_models *of = ((engine *)handle)->of;
    if (of && (!engine_job_in_callback() || Py_AddPendingCall(free_models, of) != 0))
        free_models(of);
    ext_free(handle);
}

/* ---- models -------------------------------------------------------------------------------------------------- */

static const option_row ADD[] = {
    {"slots", OPTION_SIZE, offsetof(rapt_engine_model_options, slots)},
    {"kv_memory", OPTION_SIZE, offsetof(rapt_engine_model_options, kv_memory)},
    {0}};

/* Within a call. */
static rapt_engine_model *add_model(engine *self, const model *m, rapt_engine_model_options *o, rapt_error *err)
{
    o->compute = m->compute;
    o->borrowed = true;
    return rapt_engine_add(self->of->e, m->model, o, err);
}

/* Room is there before the library adds the model. */
static int reserve_model(served_models *of)
{
    served *longer = realloc(of->list, (of->count + 1) * sizeof *longer);
    if (!longer) {
        PyErr_NoMemory();
        return -1;
    }
    of->list = longer;
    return 0;
}

/* add(model handle, options, options of its translations): its number */
static PyObject *engine_add(PyObject *handle, PyObject *args)
{
    PyObject *given, *dict, *translations, *hold, *number = NULL;
    const ext_state *s = ext_state_of(handle);
    engine *self = (engine *)handle;
    if (!PyArg_ParseTuple(args, "O!O!O!:add", s->model, &given, &PyDict_Type, &dict, &PyDict_Type, &translations) ||
        !engine_begin(self))
        return NULL;
    rapt_engine_model_options o = rapt_engine_model_options_default();
    rapt_translate_options t = rapt_translate_options_default();
    o.translate = &t;
    if (options_read(dict, ADD, &o) == 0 && translate_options_read(translations, &t) == 0 && model_begin(given, &hold)) {
        const model *m = (const model *)given;
        ext_call c;
        rapt_error err = {0};
        ext_call_begin(&c, Py_None);
        rapt_engine_model *added = m->lent ? NULL : add_model(self, m, &o, &err);
        ext_call_end(&c);
        if (m->lent) {
            PyErr_SetString(PyExc_BufferError, "the model is being trained: save it, and load it for the engine");
        } else if (!added) {
            ext_raise(s, &err);
        } else if (reserve_model(self->of) == 0) {
            self->of->list[self->of->count] = (served){added, m->model, Py_NewRef(hold), Py_NewRef(translations)};
            number = PyLong_FromSize_t(self->of->count++);
        } else {
            rapt_engine_remove(added);
        }
        model_end(given, hold);
    }
    self->calls--;
    return number;
}

/* The model of a number. */
static const served *served_of(const engine *self, Py_ssize_t number)
{
    if (number >= 0 && (size_t)number < self->of->count)
        return &self->of->list[number];
    ext_invalid("the engine has no model %zd", number);
    return NULL;
}

/* ---- requests ------------------------------------------------------------------------------------------------ */

/* The prompt's ids, as a generator reads it. */
static rapt_code prompt_ids(const rapt_model *m, text_request *r, int32_t **made, rapt_error *err)
{
    const rapt_language_model *lm = rapt_model_language(m);
    rapt_encode_options o = rapt_encode_options_default();
    o.specials = true;
    if (!r->text.data || !lm)
        return RAPT_OK;
    rapt_code code = rapt_tokenizer_encode_bytes(lm->tokenizer, r->text.data, r->text.size, &o, made, &r->ids.count, err);
    if (!code && r->ids.count == 0 && lm->end_of_text_count > 0) {
        (*made)[0] = lm->end_of_text[0];
        r->ids.count = 1;
    }
    return code;
}

/* Within a call. */
static rapt_code queue_text(const served *m, text_request *r, PyObject *job, rapt_error *err)
{
    int32_t *made = NULL;
    rapt_code code = prompt_ids(m->model, r, &made, err);
    const rapt_engine_generation request = {.tokens = made ? made : r->ids.ids, .count = r->ids.count, .options = &r->o,
                                            .sample = r->sample, .on_done = engine_job_generated, .stop = engine_job_stops,
                                            .context = job};
    code = code ? code : text_request_constrain(r, err);
    code = code ? code : rapt_engine_generate(m->m, &request, NULL, err);
    free(made);
    return code;
}

/* generate(model, prompt, options, stops, biases, sample, deliver): a job */
static PyObject *engine_generate(PyObject *handle, PyObject *args)
{
    Py_ssize_t number;
    PyObject *prompt, *options, *stops, *biases, *deliver, *job = NULL;
    text_request r = {0};
    engine *self = (engine *)handle;
    const ext_state *s = ext_state_of(handle);
    if (!PyArg_ParseTuple(args, "nOO!O!O!KO:generate", &number, &prompt, &PyDict_Type, &options, &PyTuple_Type, &stops,
                          &PyTuple_Type, &biases, &r.sample, &deliver) || !engine_begin(self))
        return NULL;
    const served *m = served_of(self, number);
    const served copy = m ? *m : (served){0}; // reading the arguments may run code that adds a model, as may another thread
    if (m && text_request_read(NULL, prompt, options, stops, biases, Py_None, &r) == 0 &&
        (job = engine_job_new(s, deliver, NULL))) {
        ext_call c;
        rapt_error err = {0};
        ext_call_begin(&c, Py_None);
        rapt_code code = queue_text(&copy, &r, job, &err);
        ext_call_end(&c);
        if (code) {
            engine_job_drop(job);
            job = ext_raise(s, &err);
        }
    }
    text_request_free(&r);
    self->calls--;
    return job;
}

/* translate(model, lines, options, deliver): a job */
static PyObject *engine_translate(PyObject *handle, PyObject *args)
{
    Py_ssize_t number;
    PyObject *list, *dict, *deliver, *job = NULL;
    ext_texts texts = {0};
    engine *self = (engine *)handle;
    const ext_state *s = ext_state_of(handle);
    if (!PyArg_ParseTuple(args, "nOO!O:translate", &number, &list, &PyDict_Type, &dict, &deliver) || !engine_begin(self))
        return NULL;
    rapt_translate_options o = rapt_translate_options_default();
    const served *m = served_of(self, number);
    rapt_engine_model *at = m ? m->m : NULL; // as in engine_generate
    rapt_glossary *glossary = NULL;
    documents d = {0};
    if (m && translate_glossary_read(s, dict, &glossary) == 0 && ext_sized_read(list, "text", &texts) == 0 &&
        documents_read(s, dict, &texts, &d) == 0 && translate_options_read(dict, &o) == 0 &&
        (job = engine_job_new(s, deliver, &o))) {
        o.glossary = glossary;
        if (d.lines)
            o.alignment = o.tokens = o.spans = true;
        const rapt_engine_translation request = {.lines = d.lines ? d.lines : texts.sized,
                                                 .count = d.lines ? d.line_count : texts.count, .options = &o,
                                                 .on_done = engine_job_translated, .stop = engine_job_stops, .context = job};
        engine_job_count(job, request.count);
        engine_job_keep(job, &d);
        ext_call c;
        rapt_error err = {0};
        ext_call_begin(&c, Py_None);
        rapt_code code = rapt_engine_translate(at, &request, NULL, &err);
        ext_call_end(&c);
        if (code) {
            engine_job_drop(job);
            job = ext_raise(s, &err);
        }
    }
    rapt_glossary_free(glossary);
    documents_free(&d);
    ext_texts_free(&texts);
    self->calls--;
    return job;
}

PyMethodDef engine_functions[] = {{"engine", new_engine, METH_VARARGS, NULL}, {0}};
static PyMethodDef engine_methods[] = {
    {"add", engine_add, METH_VARARGS, NULL},
    {"generate", engine_generate, METH_VARARGS, NULL},
    {"translate", engine_translate, METH_VARARGS, NULL},
    {"close", engine_close, METH_NOARGS, NULL},
    {0}};
static PyType_Slot engine_slots[] = {{Py_tp_dealloc, engine_dealloc}, {Py_tp_methods, engine_methods}, {0}};
PyType_Spec engine_spec = {"rapt._rapt.Engine", sizeof(engine), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                           engine_slots};
