/* engine_job.c: a request of an engine: it can be cancelled, and its result goes to a Python function. */
#include "engine.h"

typedef struct engine_job {
    PyObject_HEAD
    const ext_state *s;
    PyObject *module;  /* keeps `s` */
    PyObject *deliver;
    size_t lines;      /* of a translation */
    bool tokens, alignment; /* what it returns */
    documents documents;    /* that its lines are of, if they are */
    atomic_bool cancelled;
} engine_job;

static _Thread_local bool in_callback;

bool engine_job_in_callback(void)
{
    return in_callback;
}

PyObject *engine_job_new(const ext_state *s, PyObject *deliver, const rapt_translate_options *o)
{
    engine_job *job = (engine_job *)ext_new(s->engine_job);
    if (!job)
        return NULL;
    job->s = s;
    job->module = Py_NewRef(PyType_GetModule(s->engine_job));
    job->deliver = Py_NewRef(deliver);
    job->tokens = o && o->tokens;
    job->alignment = o && o->alignment;
    job->documents = (documents){0};
    atomic_init(&job->cancelled, false);
    return Py_NewRef((PyObject *)job);
}

void engine_job_count(PyObject *job, size_t lines)
{
    ((engine_job *)job)->lines = lines;
}

void engine_job_keep(PyObject *job, documents *d)
{
    ((engine_job *)job)->documents = *d;
    *d = (documents){0};
}

void engine_job_drop(PyObject *job)
{
    Py_DECREF(job);
    Py_DECREF(job);
}

static void engine_job_dealloc(PyObject *self)
{
    documents_free(&((engine_job *)self)->documents);
    Py_XDECREF(((engine_job *)self)->deliver);
    Py_XDECREF(((engine_job *)self)->module);
    ext_free(self);
}

/* An exception that was not raised. */
static PyObject *exception_of(const ext_state *s, rapt_code code, const char *message)
{
    PyObject *text = ext_string(message ? message : ""), *error = NULL;
    if (text)
        error = PyObject_CallFunctionObjArgs(s->errors[code], text, NULL);
    Py_XDECREF(text);
    return error;
}

/* Takes the result, which may be NULL with an exception set, and the engine's reference to the job. */
static void hand_over(engine_job *job, PyObject *result, rapt_code code, const char *message)
{
    PyObject *error = NULL, *answer = NULL;
    if (code) {
        error = exception_of(job->s, code, message);
    } else if (!result) {
        PyObject *type, *trace;
        PyErr_Fetch(&type, &error, &trace);
        PyErr_NormalizeException(&type, &error, &trace);
        Py_XDECREF(type);
        Py_XDECREF(trace);
    }
    if (result || error)
        answer = PyObject_CallFunctionObjArgs(job->deliver, result ? result : Py_None, error ? error : Py_None, NULL);
    if (!answer)
        PyErr_WriteUnraisable(job->deliver);
    Py_XDECREF(answer);
    Py_XDECREF(result);
    Py_XDECREF(error);
    Py_DECREF((PyObject *)job);
}

void engine_job_generated(void *context, const rapt_engine_generated *end)
{
    PyGILState_STATE state = PyGILState_Ensure();
    in_callback = true;
    hand_over(context, end->code ? NULL : completion_tuple(end->result), end->code, end->message);
    in_callback = false;
    PyGILState_Release(state);
}

void engine_job_translated(void *context, rapt_code code, const char *message, const rapt_translation *out)
{
    engine_job *job = context;
    PyGILState_STATE state = PyGILState_Ensure();
    in_callback = true;
    rapt_translate_options o = rapt_translate_options_default();
    o.tokens = job->tokens;
    o.alignment = job->alignment;
    PyObject *result = code ? NULL : job->documents.lines ? documents_list(job->s, &job->documents, out)
                                                          : translations_list(job->s, out, job->lines, &o);
    hand_over(job, result, code, message);
    in_callback = false;
    PyGILState_Release(state);
}

bool engine_job_stops(void *context)
{
    return atomic_load_explicit(&((engine_job *)context)->cancelled, memory_order_relaxed);
}

static PyObject *engine_job_cancel(PyObject *self, PyObject *unused)
{
    (void)unused;
    atomic_store(&((engine_job *)self)->cancelled, true);
    Py_RETURN_NONE;
}

static PyMethodDef engine_job_methods[] = {{"cancel", engine_job_cancel, METH_NOARGS, NULL}, {0}};
static PyType_Slot engine_job_slots[] = {{Py_tp_dealloc, engine_job_dealloc}, {Py_tp_methods, engine_job_methods}, {0}};
PyType_Spec engine_job_spec = {"rapt._rapt.EngineJob", sizeof(engine_job), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, engine_job_slots};
