/* optimizer.c: Adam, Muon or SGD over a list of parameters. Each parameter is a set of its own, with its own optimizer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn.h"

#include "rapt/train.h"

typedef struct optimizer {
    PyObject_HEAD
    PyObject *parameters; /* tuple */
    rapt_adam **each;     /* of each; SGD's is NULL before its first step, so that what was frozen until then moves, too */
    bool with_sgd;
    rapt_sgd_options sgd;
    size_t count;
} optimizer;

static rapt_params *set_of(const optimizer *o, size_t i)
{
    return ((parameter *)PyTuple_GetItem(o->parameters, (Py_ssize_t)i))->set;
}

static rapt_param *param_of(const optimizer *o, size_t i)
{
    return ((parameter *)PyTuple_GetItem(o->parameters, (Py_ssize_t)i))->param;
}

static void optimizer_dealloc(PyObject *self)
{
    optimizer *o = (optimizer *)self;
    for (size_t i = 0; o->each && i < o->count; i++)
        rapt_adam_free(o->each[i]);
    free(o->each);
    Py_XDECREF(o->parameters);
    ext_free(self);
}

static const option_row ADAM_OPTIONS[] = {{"beta1", OPTION_DOUBLE, offsetof(rapt_adam_options, beta1)},
                                          {"beta2", OPTION_DOUBLE, offsetof(rapt_adam_options, beta2)},
                                          {"eps", OPTION_DOUBLE, offsetof(rapt_adam_options, eps)},
                                          {"weight_decay", OPTION_DOUBLE, offsetof(rapt_adam_options, weight_decay)},
                                          {0}};

static const char *const ADJUST_NAMES[] = {[RAPT_MUON_MATCH_RMS_ADAMW] = "match_rms_adamw", [RAPT_MUON_ORIGINAL] = "original",
                                           NULL};
static const option_row MUON_OPTIONS[] = {{"momentum", OPTION_DOUBLE, offsetof(rapt_muon_options, momentum)},
                                          {"weight_decay", OPTION_DOUBLE, offsetof(rapt_muon_options, weight_decay)},
                                          {"nesterov", OPTION_BOOL, offsetof(rapt_muon_options, nesterov)},
                                          {"ns_steps", OPTION_SIZE, offsetof(rapt_muon_options, ns_steps)},
                                          {"adjust_lr", OPTION_NAME, offsetof(rapt_muon_options, adjust_lr), ADJUST_NAMES},
                                          {0}};

static const option_row SGD_OPTIONS[] = {{"momentum", OPTION_DOUBLE, offsetof(rapt_sgd_options, momentum)},
                                         {"weight_decay", OPTION_DOUBLE, offsetof(rapt_sgd_options, weight_decay)},
                                         {"nesterov", OPTION_BOOL, offsetof(rapt_sgd_options, nesterov)},
                                         {0}};

/* Muon for one parameter; the library leaves one that it doesn't take to Adam, which has a second moment. */
static rapt_adam *new_muon(rapt_params *set, const rapt_muon_options *options, rapt_error *err)
{
    rapt_adam *a = rapt_muon_new(set, options, NULL, err);
    if (!a || !rapt_adam_second_moment(a, 0))
        return a;
    const rapt_tensor *x = &rapt_params_at(set, 0)->value;
    rapt_fail(err, RAPT_ERR_VALUE, "Muon moves matrices that are not sparse; \"%s\" has %d dimension%s", x->name, x->ndim,
              x->ndim == 1 ? "" : rapt_params_at(set, 0)->sparse ? "s, and is sparse" : "s");
    rapt_adam_free(a);
    return NULL;
}

static int make_each(const ext_state *s, optimizer *o, PyObject *dict, bool is_muon)
{
    rapt_adam_options options = rapt_adam_options_default();
    rapt_muon_options muon = rapt_muon_options_default();
    rapt_error err = {0};
    muon.matrices = "*";
    if (is_muon ? options_read(dict, MUON_OPTIONS, &muon) < 0 : options_read(dict, ADAM_OPTIONS, &options) < 0)
        return -1;
    for (size_t i = 0; i < o->count; i++) {
        o->each[i] = is_muon ? new_muon(set_of(o, i), &muon, &err) : rapt_adam_new(set_of(o, i), &options, &err);
        if (!o->each[i]) {
            ext_raise(s, &err);
            return -1;
        }
    }
    return 0;
}

/* Options that no parameter can have are refused now. */
static int take_sgd(const ext_state *s, optimizer *o, PyObject *dict)
{
    rapt_error err = {0};
    o->with_sgd = true;
    o->sgd = rapt_sgd_options_default();
    o->sgd.decay_vectors = true;
    if (options_read(dict, SGD_OPTIONS, &o->sgd) < 0)
        return -1;
    rapt_adam *first = rapt_sgd_new(set_of(o, 0), &o->sgd, &err);
    rapt_adam_free(first);
    if (first)
        return 0;
    ext_raise(s, &err);
    return -1;
}

static int make_optimizer(const ext_state *s, optimizer *o, const char *kind, PyObject *dict)
{
    if (!(o->each = calloc(o->count + 1, sizeof *o->each))) {
        PyErr_NoMemory();
        return -1;
    }
    if (strcmp(kind, "sgd") == 0)
        return o->count ? take_sgd(s, o, dict) : 0;
    return make_each(s, o, dict, strcmp(kind, "muon") == 0);
}

/* optimizer(parameters, kind, options): kind is "adam", "muon" or "sgd". */
static PyObject *nn_optimizer(PyObject *module, PyObject *args)
{
    PyObject *parameters, *dict;
    const char *kind;
    const ext_state *s = PyModule_GetState(module);
    if (!PyArg_ParseTuple(args, "O!sO!:optimizer", &PyTuple_Type, &parameters, &kind, &PyDict_Type, &dict))
        return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_Size(parameters); i++) {
        if (!PyObject_TypeCheck(PyTuple_GetItem(parameters, i), s->parameter))
            return ext_wrong_type("a parameter", "a rapt.nn.Parameter", PyTuple_GetItem(parameters, i));
    }
    optimizer *o = (optimizer *)ext_new(s->optimizer);
    if (!o)
        return NULL;
    o->parameters = Py_NewRef(parameters);
    o->count = (size_t)PyTuple_Size(parameters);
    if (make_optimizer(s, o, kind, dict) == 0)
        return (PyObject *)o;
    Py_DECREF((PyObject *)o);
    return NULL;
}

/* ---- steps ---------------------------------------------------------------------------------------------------------- */

typedef struct step {
    optimizer *o;
    tape *tape; /* a spare one, for its threads */
    double lr, scale, norm;
} step;

/* SGD's optimizer of a parameter, where it has a gradient. */
static rapt_code make_late(optimizer *o, size_t i, rapt_error *err)
{
    const rapt_tensor *x = &param_of(o, i)->value;
    if (o->with_sgd && !o->each[i] && x->requires_grad && x->grad_filled)
        o->each[i] = rapt_sgd_new(set_of(o, i), &o->sgd, err);
    return err->code;
}

static rapt_code step_each(step *p, rapt_error *err)
{
    for (size_t i = 0; i < p->o->count; i++) {
        rapt_code code = make_late(p->o, i, err);
        if (!code && p->o->each[i])
            code = rapt_adam_step(p->o->each[i], p->tape->tape, p->lr, p->scale, err);
        if (code)
            return code;
        rapt_params_at(set_of(p->o, i), 0); // rows of a sparse parameter are read at any time, by NumPy for one
    }
    return RAPT_OK;
}

static rapt_code step_norm(step *p, rapt_error *err)
{
    double squares = 0;
    (void)err;
    for (size_t i = 0; i < p->o->count; i++) {
        const double norm = rapt_grad_norm(p->tape->tape, set_of(p->o, i));
        squares += norm * norm;
    }
    p->norm = sqrt(squares);
    return RAPT_OK;
}

static int run_step(const ext_state *s, step *p, rapt_code (*fn)(step *, rapt_error *))
{
    rapt_error err = {0};
    ext_call c;
    ext_mutex *lock = tape_training_lock();
    if (!lock) {
        PyErr_NoMemory();
        return -1;
    }
    if (!(p->tape = tape_start(s, (rapt_pass){0})))
        return -1;
    ext_call_begin(&c, NULL);
    rapt_code code = ext_lock(&c, lock, &err);
    if (!code) {
        code = fn(p, &err);
        ext_unlock(lock);
    }
    ext_call_end(&c);
    Py_DECREF((PyObject *)p->tape);
    if (!code)
        return 0;
    ext_raise(s, &err);
    return -1;
}

/* step(lr, scale). */
static PyObject *optimizer_step(PyObject *self, PyObject *args)
{
    step p = {.o = (optimizer *)self};
    if (!PyArg_ParseTuple(args, "dd:step", &p.lr, &p.scale) || run_step(ext_state_of(self), &p, step_each) < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* norm(): of all gradients. */
static PyObject *optimizer_norm(PyObject *self, PyObject *unused)
{
    (void)unused;
    step p = {.o = (optimizer *)self};
    return run_step(ext_state_of(self), &p, step_norm) < 0 ? NULL : PyFloat_FromDouble(p.norm);
}

static PyObject *optimizer_zero_grad(PyObject *self, PyObject *unused)
{
    (void)unused;
    const optimizer *o = (optimizer *)self;
    for (size_t i = 0; i < o->count; i++)
        rapt_params_zero_grad(set_of(o, i));
    Py_RETURN_NONE;
}

/* has_gradients(): whether a step would change anything. */
static PyObject *optimizer_has_gradients(PyObject *self, PyObject *unused)
{
    (void)unused;
    const optimizer *o = (optimizer *)self;
    bool found = false;
    for (size_t i = 0; i < o->count && !found; i++)
        found = param_of(o, i)->value.requires_grad && param_of(o, i)->value.grad_filled;
    return PyBool_FromLong(found);
}

static PyMethodDef optimizer_methods[] = {{"step", optimizer_step, METH_VARARGS, NULL},
                                          {"norm", optimizer_norm, METH_NOARGS, NULL},
                                          {"has_gradients", optimizer_has_gradients, METH_NOARGS, NULL},
                                          {"zero_grad", optimizer_zero_grad, METH_NOARGS, NULL}, {0}};
PyMethodDef optimizer_functions[] = {{"optimizer", nn_optimizer, METH_VARARGS, NULL}, {0}};
static PyType_Slot optimizer_slots[] = {{Py_tp_dealloc, optimizer_dealloc}, {Py_tp_methods, optimizer_methods}, {0}};
PyType_Spec optimizer_spec = {"rapt._rapt.Optimizer", sizeof(optimizer), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, optimizer_slots};
