/* stream.c: a text token by token. A stream has a generator of its own, and cancels its run when nobody wants more. */
#include "generate.h"

typedef struct stream {
    PyObject_HEAD
    generation *n;   /* NULL: the text has ended */
    PyObject *model; /* which gets the generator afterwards: no array, so the handle is kept */
    PyObject *hold;  /* the owner of the model: it cannot be closed meanwhile */
    size_t given;    /* bytes of text that tokens have brought */
    bool busy;       /* a thread computes */
    bool cancelled;  /* by another one meanwhile */
} stream;

/* What it drops may run code of Python that closes the stream again: nothing of it is left by then. */
static void stream_end(stream *s)
{
    generation *n = s->n;
    PyObject *of = s->model, *hold = s->hold;
    s->n = NULL;
    s->model = s->hold = NULL;
    if (n)
        generation_put((model *)of, n);
    Py_XDECREF(hold);
    Py_XDECREF(of);
}

/* stream(prompt, options, stops, biases, logits or None, sample) */
PyObject *model_stream(PyObject *self, PyObject *args)
{
    PyObject *prompt, *options, *stops, *biases, *logits;
    text_request r = {0};
    if (!PyArg_ParseTuple(args, "OO!O!O!OK:stream", &prompt, &PyDict_Type, &options, &PyTuple_Type, &stops, &PyTuple_Type,
                          &biases, &logits, &r.sample))
        return NULL;
    model *m = (model *)self;
    stream *s = (stream *)ext_new(ext_state_of(self)->stream);
    if (!s || !model_hold(self, &s->hold)) {
        Py_XDECREF((PyObject *)s);
        return NULL;
    }
    s->model = Py_NewRef(self);
    rapt_code code = RAPT_ERR_VALUE;
    m->calls++;
    if (text_request_read(m, prompt, options, stops, biases, logits, &r) == 0)
        s->n = generation_take(ext_state_of(self), m, &r);
    if (s->n) {
        ext_call c;
        rapt_error err = {0};
        ext_call_begin(&c, Py_None);
        code = generation_begin(s->n, m, &r, &c, &err);
        code = code ? code : rapt_generator_start(s->n->g, r.sample, &err);
        ext_call_end(&c);
        if (code)
            ext_raise(ext_state_of(self), &err);
    }
    text_request_free(&r);
    m->calls--;
    if (code)
        Py_CLEAR(s);
    return (PyObject *)s;
}

static bool stream_take(stream *s)
{
    model *m = (model *)s->model;
    const char *refusal = s->busy ? "another thread takes a token of the stream" : !s->n ? "the stream is closed"
                          : !m->model ? "the model of the stream has changed since" : NULL;
    if (refusal) {
        PyErr_SetString(PyExc_ValueError, refusal);
        return false;
    }
    m->calls++;
    return s->busy = true;
}

static void stream_leave(stream *s)
{
    s->busy = false;
    ((model *)s->model)->calls--;
}

static PyObject *top_of(const rapt_generated_token *t)
{
    PyObject *list = PyList_New((Py_ssize_t)t->count);
    for (size_t i = 0; list && i < t->count; i++) {
        PyObject *pair = Py_BuildValue("(id)", (int)t->ids[i], t->log_probs[i]);
        if (!pair || PyList_SetItem(list, (Py_ssize_t)i, pair) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* next(): (id, text, log-probability, [(id, log-probability)]), or None at the end. */
static PyObject *stream_next(PyObject *self, PyObject *unused)
{
    (void)unused;
    stream *s = (stream *)self;
    if (!stream_take(s))
        return NULL;
    rapt_generated_token t;
    ext_call c;
    rapt_error err = {0};
    s->n->call = &c;
    ext_call_begin(&c, Py_None);
    bool is_token = rapt_generator_next(s->n->g, &t, &err);
    ext_call_end(&c);
    PyObject *tuple = NULL;
    if (is_token) {
        s->given += t.size;
        PyObject *text = PyUnicode_DecodeUTF8(t.text, (Py_ssize_t)t.size, "replace"), *top = top_of(&t);
        if (text && top)
            tuple = Py_BuildValue("(iOdO)", (int)t.id, text, t.log_prob, top);
        Py_XDECREF(text);
        Py_XDECREF(top);
    } else {
        tuple = err.code ? ext_raise(ext_state_of(self), &err) : Py_NewRef(Py_None);
    }
    stream_leave(s); // not before: what is collected meanwhile may close the stream, whose memory `t` points into
    if (!tuple || s->cancelled)
        stream_end(s);
    return tuple;
}

/* finish(): ends the run: ((completion), the text that no token has brought) */
static PyObject *stream_finish(PyObject *self, PyObject *unused)
{
    (void)unused;
    stream *s = (stream *)self;
    if (!stream_take(s))
        return NULL;
    rapt_generated result;
    ext_call c;
    rapt_error err = {0};
    s->n->call = &c;
    ext_call_begin(&c, Py_None);
    rapt_code code = rapt_generator_finish(s->n->g, &result, &err);
    ext_call_end(&c);
    stream_leave(s);
    PyObject *rest = NULL, *tuple = NULL;
    if (code) {
        rapt_generated_free(&result);
        ext_raise(ext_state_of(self), &err);
    } else {
        rest = PyUnicode_DecodeUTF8(result.text + s->given, (Py_ssize_t)(result.text_size - s->given), "replace");
        tuple = completion_of(&result);
    }
    stream_end(s);
    if (rest && tuple)
        return Py_BuildValue("(NN)", tuple, rest);
    Py_XDECREF(rest);
    Py_XDECREF(tuple);
    return NULL;
}

static PyObject *stream_close(PyObject *self, PyObject *unused)
{
    (void)unused;
    stream *s = (stream *)self;
    s->cancelled = true;
    if (s->busy)
        rapt_generator_cancel(s->n->g); // the thread that computes ends the stream
    else
        stream_end(s);
    Py_RETURN_NONE;
}

/* A stream may refer to itself by its callable: a method of the object that has the stream, for example. */
static int stream_traverse(PyObject *self, visitproc visit, void *arg)
{
    stream *s = (stream *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(s->model);
    Py_VISIT(s->hold);
    if (s->n) {
        Py_VISIT(s->n->key);
        Py_VISIT(s->n->logits);
    }
    return 0;
}

static int stream_clear(PyObject *self)
{
    stream *s = (stream *)self;
    if (!s->busy) // a thread that computes needs the generator, and ends the stream
        stream_end(s);
    return 0;
}

static void stream_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    stream_end((stream *)self);
    ext_free(self);
}

static PyMethodDef stream_methods[] = {
    {"next", stream_next, METH_NOARGS, NULL},
    {"finish", stream_finish, METH_NOARGS, NULL},
    {"close", stream_close, METH_NOARGS, NULL},
    {0}};
static PyType_Slot stream_slots[] = {{Py_tp_dealloc, stream_dealloc}, {Py_tp_traverse, stream_traverse},
                                     {Py_tp_clear, stream_clear}, {Py_tp_methods, stream_methods}, {0}};
PyType_Spec stream_spec = {"rapt._rapt.Stream", sizeof(stream), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, stream_slots};
