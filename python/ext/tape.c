/* tape.c: the tapes of passes, and what belongs to a thread: its pass, its observer. */
#include <stdlib.h>
#include <string.h>

#include "nn.h"

enum { SPARE_TAPES = 4 };

/* Tapes that no tensor uses any more, with their memory. The interpreter's lock guards this and the next. */
static struct {
    rapt_tape *tapes[SPARE_TAPES];
    size_t count;
    PyObject *pool; /* owner of the threads that all of them compute in; NULL: none yet */
    int threads;
} spare = {.threads = 1};
static struct {
    uint64_t seed, step, passes;
    ext_mutex training;
} global;
static _Thread_local tape *current;       /* a reference */
static _Thread_local PyObject *observing; /* a callable, or NULL */

tape *tape_current(void)
{
    return current;
}

uint64_t tape_next_step(void)
{
    return global.step++;
}

uint64_t tape_seed(void)
{
    return global.seed;
}

ext_mutex *tape_training_lock(void)
{
    if (!global.training.lock)
        global.training.lock = PyThread_allocate_lock();
    return global.training.lock ? &global.training : NULL;
}

static void free_spare(void)
{
    while (spare.count > 0)
        rapt_tape_free(spare.tapes[--spare.count]);
}

static void free_pool(void *pool)
{
    rapt_pool_free(pool);
}

/* Makes the threads of later tapes. */
static int make_pool(const ext_state *s, int threads)
{
    rapt_error err = {0};
    rapt_pool *pool = rapt_pool_new(threads, &err);
    PyObject *owner = pool ? owner_new(s, pool, free_pool, NULL) : ext_raise(s, &err);
    if (!owner)
        return -1;
    free_spare();
    Py_XDECREF(spare.pool);
    spare.pool = owner;
    spare.threads = threads;
    return 0;
}

static rapt_tape *take_tape(const ext_state *s, tape *t)
{
    rapt_error err = {0};
    if (!spare.pool && make_pool(s, spare.threads) < 0)
        return NULL;
    t->pool = Py_NewRef(spare.pool);
    if (spare.count > 0)
        return spare.tapes[--spare.count];
    rapt_tape *made = rapt_tape_new_in(owner_memory(t->pool), NULL, &err);
    if (!made)
        ext_raise(s, &err);
    return made;
}

/* ---- observing -------------------------------------------------------------------------------------------------- */

static PyObject *values_of(const ext_state *s, const rapt_observation *step)
{
    float *data;
    PyObject *plain = array_make(s, step->tensor->ndim, step->tensor->shape, &data), *named = NULL;
    if (!plain)
        return NULL;
    memcpy(data, step->values, rapt_tensor_size(step->tensor) * sizeof *data);
    array_of of = {.data = data, .ndim = step->tensor->ndim, .name = step->name, .axes = step->axes};
    memcpy(of.shape, step->tensor->shape, sizeof of.shape);
    named = array_new(s, &of, ((array *)plain)->owner);
    Py_DECREF(plain);
    return named;
}

/* Calls the observer with (name, formula or None, values, whether they are a gradient). */
static void observe_step(void *context, const rapt_observation *step)
{
    tape *t = context;
    if (!t->call || ext_call_was_stopped(t->call)) // an exception is set
        return;
    ext_callback_begin(t->call);
    PyObject *values = values_of(ext_state_of(context), step), *answer = NULL;
    if (values)
        answer = PyObject_CallFunction(t->observer, "szOO", step->name, step->formula, values,
                                       step->gradient ? Py_True : Py_False);
    Py_XDECREF(values);
    Py_XDECREF(answer);
    if (ext_callback_end(t->call, !answer, NULL))
        rapt_tape_fail(t->tape, RAPT_ERR_INTERRUPTED, "the observer raised an exception");
}

static void set_observer(tape *t, PyObject *observer)
{
    Py_XDECREF(t->observer);
    t->observer = Py_XNewRef(observer);
    rapt_observe(t->tape, observer ? observe_step : NULL, t);
}

/* set_observer(callable or None): the observer of this thread; returns the one before. */
static PyObject *nn_set_observer(PyObject *module, PyObject *observer)
{
    (void)module;
    if (observer != Py_None && !PyCallable_Check(observer))
        return ext_wrong_type("observer", "a callable", observer);
    if (current && current->busy) {
        PyErr_SetString(PyExc_RuntimeError, "the observer cannot be changed while a pass computes");
        return NULL;
    }
    PyObject *before = observing;
    observing = observer == Py_None ? NULL : Py_NewRef(observer);
    if (current)
        set_observer(current, observing);
    return before ? before : Py_NewRef(Py_None);
}

/* ---- passes ----------------------------------------------------------------------------------------------------- */

tape *tape_start(const ext_state *s, rapt_pass pass)
{
    tape *t = (tape *)ext_new(s->tape);
    if (!t || !(t->tape = take_tape(s, t))) {
        Py_XDECREF((PyObject *)t);
        return NULL;
    }
    t->id = ++global.passes;
    t->records = pass.record;
    rapt_tape_begin(t->tape, pass);
    if (observing)
        set_observer(t, observing);
    return t;
}

static void tape_dealloc(PyObject *self)
{
    tape *t = (tape *)self;
    if (t->tape) {
        rapt_observe(t->tape, NULL, NULL);
        rapt_tape_begin(t->tape, (rapt_pass){0});
        if (t->pool == spare.pool && spare.count < SPARE_TAPES)
            spare.tapes[spare.count++] = t->tape;
        else
            rapt_tape_free(t->tape);
    }
    for (size_t i = 0; i < t->leaf_count; i++)
        Py_DECREF(t->leaves[i].leaf);
    PyMem_Free(t->leaves);
    Py_XDECREF(t->keep);
    Py_XDECREF(t->outer);
    Py_XDECREF(t->observer);
    Py_XDECREF(t->pool);
    ext_free(self);
}

/* enter(): operations of this thread are on the tape from now on. */
static PyObject *tape_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    tape *t = (tape *)self;
    if (t->entered) {
        PyErr_SetString(PyExc_RuntimeError, "a pass is entered once");
        return NULL;
    }
    t->entered = true;
    t->outer = (PyObject *)current; // with its reference
    current = (tape *)Py_NewRef(self);
    Py_RETURN_NONE;
}

/* exit(): the tape before it is the thread's again. */
static PyObject *tape_exit(PyObject *self, PyObject *unused)
{
    (void)unused;
    tape *t = (tape *)self;
    if (current != t) {
        PyErr_SetString(PyExc_RuntimeError, "passes end in the thread that began them, the innermost first");
        return NULL;
    }
    current = (tape *)t->outer;
    t->outer = NULL;
    if (!t->busy)
        set_observer(t, NULL);
    Py_DECREF(self);
    Py_RETURN_NONE;
}

static PyMethodDef tape_methods[] = {{"enter", tape_enter, METH_NOARGS, NULL}, {"exit", tape_exit, METH_NOARGS, NULL}, {0}};
static PyType_Slot tape_slots[] = {{Py_tp_dealloc, tape_dealloc}, {Py_tp_methods, tape_methods}, {0}};
PyType_Spec tape_spec = {"rapt._rapt.Pass", sizeof(tape), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, tape_slots};

/* ---- functions ---------------------------------------------------------------------------------------------------- */

static const option_row PASS_OPTIONS[] = {{"training", OPTION_BOOL, offsetof(rapt_pass, training)},
                                          {"keep_gradients", OPTION_BOOL, offsetof(rapt_pass, keep_gradients)},
                                          {"step", OPTION_SEED, offsetof(rapt_pass, step)},
                                          {0}};

/* start_pass(options): a pass that records. */
static PyObject *nn_start_pass(PyObject *module, PyObject *options)
{
    rapt_pass pass = {.record = true, .training = true, .seed = global.seed};
    if (!PyDict_Check(options))
        return ext_wrong_type("options", "a dict", options);
    PyObject *step = PyDict_GetItemString(options, "step");
    if (options_read(options, PASS_OPTIONS, &pass) < 0)
        return NULL;
    if (!step || step == Py_None)
        pass.step = tape_next_step();
    return (PyObject *)tape_start(PyModule_GetState(module), pass);
}

/* seed(value): of the parameters and the dropout of later modules and passes, which are counted from here. */
static PyObject *nn_seed(PyObject *module, PyObject *value)
{
    (void)module;
    PyObject *integer = ext_integer(value, "seed");
    if (!integer)
        return NULL;
    unsigned long long seed = PyLong_AsUnsignedLongLong(integer);
    Py_DECREF(integer);
    if (PyErr_Occurred() || seed >= RAPT_SEED_UNSET) {
        PyErr_Clear();
        ext_invalid("seed must be 0 to 18446744073709551612");
        return NULL;
    }
    global.seed = seed;
    global.step = 0;
    parameter_restart();
    Py_RETURN_NONE;
}

static PyObject *nn_set_threads(PyObject *module, PyObject *value)
{
    long threads = PyLong_AsLong(value);
    if (PyErr_Occurred())
        return NULL;
    if (threads < 1 || threads > 256) {
        ext_invalid("threads is %ld; it can be 1 to 256", threads);
        return NULL;
    }
    if (make_pool(PyModule_GetState(module), (int)threads) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *nn_threads(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyLong_FromLong(spare.threads);
}

PyMethodDef tape_functions[] = {{"start_pass", nn_start_pass, METH_O, NULL}, {"seed", nn_seed, METH_O, NULL},
                                {"set_observer", nn_set_observer, METH_O, NULL}, {"set_threads", nn_set_threads, METH_O, NULL},
                                {"threads", nn_threads, METH_NOARGS, NULL}, {0}};
