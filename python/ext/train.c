/* train.c: training runs, step by step. The loop, with the callbacks of users, is the package's. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "model.h"
#include "recipe.h"

#include "rapt/train.h"

typedef struct trainer {
    PyObject_HEAD
    rapt_trainer *t;
    rapt_pairs *pairs, *validation;
    rapt_token_file *tokens, *validation_tokens;
    PyObject *recipe;     /* which the run reads */
    PyObject *paths;      /* the texts of the options, a tuple of bytes */
    PyObject *on_warning; /* a callable, or NULL */
    PyObject *reports;    /* of the call in progress: a list of tuples, */
    PyObject *sample;     /* and the text of a sample, or NULL */
    int threads;
    ext_call call;        /* the call in progress */
    bool stopped;         /* a call was: the library asks for no second answer */
} trainer;

/* A rapt_stop_fn. */
static bool stop(void *self)
{
    return ext_call_stop(&((trainer *)self)->call);
}

static void begin_call(trainer *self)
{
    ext_call_begin(&self->call, NULL);
    if (self->stopped)
        atomic_store(&self->call.stopped, true);
}

static void end_call(trainer *self)
{
    ext_call_end(&self->call);
    self->stopped = self->stopped || ext_call_was_stopped(&self->call);
}

/* ---- callbacks, without the interpreter's lock ---------------------------------------------------------------- */

static PyObject *number_or_none(double x)
{
    return isnan(x) ? Py_NewRef(Py_None) : PyFloat_FromDouble(x);
}

/* As the members of rapt.Step, without the last. */
static PyObject *progress_tuple(const rapt_progress *p)
{
    return Py_BuildValue("(KKKKdNNNNNNNNNNddddNO)", (unsigned long long)p->step, (unsigned long long)p->steps,
                         (unsigned long long)p->epoch, (unsigned long long)p->epochs, p->epochs_done, number_or_none(p->loss),
                         number_or_none(p->step_loss), number_or_none(p->loss_book), number_or_none(p->val_loss),
                         number_or_none(p->val_bleu),
                         number_or_none(p->val_chrf), number_or_none(p->val_bleu_book), number_or_none(p->best_val_loss),
                         number_or_none(p->best_score),
                         p->best_step ? PyLong_FromUnsignedLongLong(p->best_step) : Py_NewRef(Py_None), p->lr, p->grad_norm,
                         p->tokens_per_s, p->seconds, number_or_none(p->seconds_left), p->report ? Py_True : Py_False);
}

static void on_progress(void *context, const rapt_progress *p)
{
    trainer *self = context;
    ext_callback_begin(&self->call);
    PyObject *tuple = progress_tuple(p);
    bool failed = !tuple || PyList_Append(self->reports, tuple) < 0;
    Py_XDECREF(tuple);
    ext_callback_end(&self->call, failed, NULL);
}

static void on_sample(void *context, uint64_t step, const char *text)
{
    (void)step;
    trainer *self = context;
    ext_callback_begin(&self->call);
    PyObject *sample = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    Py_XDECREF(self->sample);
    self->sample = sample;
    ext_callback_end(&self->call, !sample, NULL);
}

static void on_warning(void *context, const char *text)
{
    trainer *self = context;
    if (!self->on_warning || ext_call_was_stopped(&self->call)) // an exception is set
        return;
    ext_callback_begin(&self->call);
    PyObject *message = ext_message(text);
    PyObject *answer = message ? PyObject_CallFunctionObjArgs(self->on_warning, message, NULL) : NULL;
    Py_XDECREF(message);
    Py_XDECREF(answer);
    ext_callback_end(&self->call, !answer, NULL);
}

/* ---- setting up ------------------------------------------------------------------------------------------------ */

/* None, or (sources, targets): tuples of str of the same length. */
static int read_pairs(const ext_state *s, PyObject *pair, const char *name, rapt_pairs **out)
{
    if (pair == Py_None)
        return 0;
    ext_texts sources = {0}, targets = {0};
    rapt_error err = {0};
    PyObject *first, *second;
    if (PyArg_ParseTuple(pair, "OO", &first, &second) && ext_texts_read(first, name, &sources) == 0 &&
        ext_texts_read(second, name, &targets) == 0) {
        if (sources.count != targets.count)
            ext_invalid("%s has %zu sources and %zu targets", name, sources.count, targets.count);
        else if (!(*out = rapt_pairs_from_lines(sources.texts, targets.texts, sources.count, &err)))
            ext_raise(s, &err);
    }
    ext_texts_free(&sources);
    ext_texts_free(&targets);
    return *out ? 0 : -1;
}

/* None, or ids. */
static int read_tokens(const ext_state *s, PyObject *list, const char *name, rapt_token_file **out)
{
    if (list == Py_None)
        return 0;
    ext_ids ids;
    int32_t largest = 0;
    rapt_error err = {0};
    if (ext_ids_read(list, name, &ids) < 0)
        return -1;
    for (size_t i = 0; i < ids.count; i++)
        largest = ids.ids[i] > largest ? ids.ids[i] : largest;
    if (!(*out = rapt_token_file_from_ids(ids.ids, ids.count, (size_t)largest + 1, &err)))
        ext_raise(s, &err);
    ext_ids_free(&ids);
    return *out ? 0 : -1;
}

static const option_row OPTIONS[] = {
    {"resume", OPTION_BOOL, offsetof(rapt_train_options, resume)},
    {"reset_optimizer", OPTION_BOOL, offsetof(rapt_train_options, reset_optimizer)},
    {"untrained", OPTION_BOOL, offsetof(rapt_train_options, untrained)},
    {"max_steps", OPTION_SEED, offsetof(rapt_train_options, max_steps)},
    {"threads", OPTION_INT, offsetof(rapt_train_options, threads)},
    {0}};

/* The options' texts, which the trainer keeps. */
static int read_paths(trainer *self, PyObject *out, PyObject *init, rapt_train_options *o)
{
    PyObject *out_bytes = ext_path(out, &o->out);
    PyObject *init_bytes = !out_bytes ? NULL : init == Py_None ? Py_NewRef(Py_None) : ext_path(init, &o->init);
    if (out_bytes && init_bytes)
        self->paths = PyTuple_Pack(2, out_bytes, init_bytes);
    Py_XDECREF(out_bytes);
    Py_XDECREF(init_bytes);
    return self->paths ? 0 : -1;
}

/* What is read from Python: (pairs, validation, tokens, validation_tokens), each of which may be None. */
static int read_data(const ext_state *s, trainer *self, PyObject *data, rapt_train_options *o)
{
    PyObject *pairs, *validation, *tokens, *validation_tokens;
    if (!PyArg_ParseTuple(data, "OOOO", &pairs, &validation, &tokens, &validation_tokens) ||
        read_pairs(s, pairs, "pairs", &self->pairs) < 0 || read_pairs(s, validation, "validation", &self->validation) < 0 ||
        read_tokens(s, tokens, "text", &self->tokens) < 0 ||
        read_tokens(s, validation_tokens, "validation", &self->validation_tokens) < 0)
        return -1;
    o->pairs = self->pairs;
    o->validation = self->validation;
    o->tokens = self->tokens;
    o->validation_tokens = self->validation_tokens;
    return 0;
}

static int set_up(const ext_state *s, trainer *self, rapt_train_options *o)
{
    rapt_error err = {0};
    o->stop = stop;
    o->on_progress = on_progress;
    o->on_sample = on_sample;
    o->on_warning = on_warning;
    o->context = self;
    self->threads = o->threads;
    if (!(self->reports = PyList_New(0)))
        return -1;
    begin_call(self);
    self->t = rapt_trainer_new(o, &err);
    end_call(self);
    if (!self->t || PyErr_Occurred())
        ext_raise(s, &err);
    return PyErr_Occurred() ? -1 : 0;
}

/* trainer(recipe, out, init or None, data, options, on_warning or None) */
static PyObject *trainer_new(PyObject *module, PyObject *args)
{
    PyObject *recipe, *out, *init, *data, *dict, *warn;
    if (!PyArg_ParseTuple(args, "OOOO!O!O:trainer", &recipe, &out, &init, &PyTuple_Type, &data, &PyDict_Type, &dict, &warn))
        return NULL;
    const ext_state *s = PyModule_GetState(module);
    rapt_train_options o = rapt_train_options_default();
    if (!(o.recipe = recipe_of(s, recipe)))
        return NULL;
    trainer *self = (trainer *)ext_new(s->trainer);
    if (!self)
        return NULL;
    self->recipe = Py_NewRef(recipe);
    self->on_warning = warn == Py_None ? NULL : Py_NewRef(warn);
    if (options_read(dict, OPTIONS, &o) < 0 || read_paths(self, out, init, &o) < 0 || read_data(s, self, data, &o) < 0 ||
        set_up(s, self, &o) < 0) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    return (PyObject *)self;
}

static void trainer_dealloc(PyObject *object)
{
    trainer *self = (trainer *)object;
    rapt_trainer_free(self->t);
    rapt_pairs_free(self->pairs);
    rapt_pairs_free(self->validation);
    rapt_token_file_close(self->tokens);
    rapt_token_file_close(self->validation_tokens);
    Py_XDECREF(self->recipe);
    Py_XDECREF(self->paths);
    Py_XDECREF(self->on_warning);
    Py_XDECREF(self->reports);
    Py_XDECREF(self->sample);
    ext_free(object);
}

/* ---- steps -------------------------------------------------------------------------------------------------------- */

/* Runs a call; (progress tuples, sample or None). That a signal or callback has stopped it is no failure of the library. */
static PyObject *run_call(trainer *self, rapt_code (*call)(rapt_trainer *, rapt_error *))
{
    rapt_error err = {0};
    PyObject *reports = PyList_New(0);
    if (!reports)
        return NULL;
    Py_XDECREF(self->reports);
    self->reports = reports;
    begin_call(self);
    rapt_code code = call(self->t, &err);
    end_call(self);
    PyObject *sample = self->sample ? self->sample : Py_NewRef(Py_None);
    self->sample = NULL;
    if (PyErr_Occurred() || (code && code != RAPT_ERR_INTERRUPTED)) {
        Py_DECREF(sample);
        return ext_raise(ext_state_of((PyObject *)self), &err);
    }
    return Py_BuildValue("(ON)", self->reports, sample);
}

static PyObject *trainer_step(PyObject *self, PyObject *unused)
{
    (void)unused;
    return run_call((trainer *)self, rapt_trainer_step);
}

static PyObject *trainer_finish(PyObject *self, PyObject *unused)
{
    (void)unused;
    return run_call((trainer *)self, rapt_trainer_finish);
}

static PyObject *trainer_is_over(PyObject *self, PyObject *unused)
{
    (void)unused;
    trainer *t = (trainer *)self;
    begin_call(t); // is_over asks whether to stop
    bool over = rapt_trainer_is_over(t->t);
    end_call(t);
    return PyErr_Occurred() ? NULL : PyBool_FromLong(over);
}

/* model(): a handle of the model as it is now, to be expired before the next step */
static PyObject *trainer_model(PyObject *object, PyObject *unused)
{
    (void)unused;
    trainer *self = (trainer *)object;
    const ext_state *s = ext_state_of(object);
    rapt_error err = {0};
    begin_call(self);
    const rapt_model *m = rapt_trainer_model(self->t, &err);
    end_call(self);
    if (!m || PyErr_Occurred())
        return ext_raise(s, &err);
    return model_view(s, (rapt_model *)m, self->threads, object); // handles read it, as all others
}

PyMethodDef train_functions[] = {{"trainer", trainer_new, METH_VARARGS, NULL}, {0}};
static PyMethodDef trainer_methods[] = {
    {"step", trainer_step, METH_NOARGS, NULL},
    {"finish", trainer_finish, METH_NOARGS, NULL},
    {"is_over", trainer_is_over, METH_NOARGS, NULL},
    {"model", trainer_model, METH_NOARGS, NULL},
    {0}};
static PyType_Slot trainer_slots[] = {{Py_tp_dealloc, trainer_dealloc}, {Py_tp_methods, trainer_methods}, {0}};
PyType_Spec trainer_spec = {"rapt._rapt.Trainer", sizeof(trainer), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                            trainer_slots};
