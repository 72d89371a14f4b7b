/* optimizer.c: Adam or Muon over a list of parameters, and SGD. Each parameter is a set of its own, with its own optimizer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn.h"

#include "rapt/train.h"

typedef struct optimizer {
    PyObject_HEAD
    PyObject *parameters; /* tuple */
    rapt_adam **adam;     /* of each, Adam or Muon; NULL: SGD */
    float **velocity;     /* SGD with momentum: of each, or NULL before its first step */
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
    for (size_t i = 0; i < o->count; i++) {
        if (o->adam)
            rapt_adam_free(o->adam[i]);
        if (o->velocity)
            free(o->velocity[i]);
    }
    free(o->adam);
    free(o->velocity);
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

static int make_adam(const ext_state *s, optimizer *o, PyObject *dict, bool is_muon)
{
    rapt_adam_options options = rapt_adam_options_default();
    rapt_muon_options muon = rapt_muon_options_default();
    rapt_error err = {0};
    muon.matrices = "*";
    if (is_muon ? options_read(dict, MUON_OPTIONS, &muon) < 0 : options_read(dict, ADAM_OPTIONS, &options) < 0)
        return -1;
    if (!(o->adam = calloc(o->count + 1, sizeof *o->adam))) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < o->count; i++) {
        o->adam[i] = is_muon ? new_muon(set_of(o, i), &muon, &err) : rapt_adam_new(set_of(o, i), &options, &err);
        if (!o->adam[i]) {
            ext_raise(s, &err);
            return -1;
        }
    }
    return 0;
}

/* optimizer(parameters, options or None, muon): Adam with options, or Muon if `muon` is true; SGD without. */
static PyObject *nn_optimizer(PyObject *module, PyObject *args)
{
    PyObject *parameters, *dict;
    int is_muon;
    const ext_state *s = PyModule_GetState(module);
    if (!PyArg_ParseTuple(args, "O!Op:optimizer", &PyTuple_Type, &parameters, &dict, &is_muon))
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
    int failed = dict != Py_None && (!PyDict_Check(dict) || make_adam(s, o, dict, is_muon) < 0);
    if (!failed && dict == Py_None && !(o->velocity = calloc(o->count + 1, sizeof *o->velocity))) {
        PyErr_NoMemory();
        failed = 1;
    }
    if (failed) {
        if (!PyErr_Occurred())
            ext_wrong_type("options", "a dict", dict);
        Py_DECREF((PyObject *)o);
        return NULL;
    }
    return (PyObject *)o;
}

/* ---- steps ---------------------------------------------------------------------------------------------------------- */

typedef struct step {
    optimizer *o;
    tape *tape; /* a spare one, for its threads */
    double lr, scale, momentum, weight_decay, norm;
} step;

static rapt_code step_adam(step *p, rapt_error *err)
{
    for (size_t i = 0; i < p->o->count; i++) {
        rapt_code code = rapt_adam_step(p->o->adam[i], p->tape->tape, p->lr, p->scale, err);
        if (code)
            return code;
        rapt_params_at(set_of(p->o, i), 0); // rows of a sparse parameter are read at any time, by NumPy for one
    }
    return RAPT_OK;
}

/* p <- p - lr v, with v <- momentum v + scale g + weight_decay p. The library has no operation for it. */
static rapt_code step_sgd(step *p, rapt_error *err)
{
    for (size_t i = 0; i < p->o->count; i++) {
        rapt_tensor *x = &param_of(p->o, i)->value;
        const size_t count = rapt_tensor_size(x);
        float **v = &p->o->velocity[i];
        if (!x->requires_grad || !x->grad_filled)
            continue;
        if (p->momentum != 0 && !*v && !(*v = calloc(count, sizeof **v)))
            return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the momentum of \"%s\"", x->name);
        for (size_t k = 0; k < count; k++) {
            float g = fmaf((float)p->weight_decay, x->data[k], (float)p->scale * x->grad[k]);
            if (p->momentum != 0)
                g = (*v)[k] = fmaf((float)p->momentum, (*v)[k], g);
            x->data[k] = fmaf(-(float)p->lr, g, x->data[k]);
        }
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

/* step(lr, scale, momentum, weight_decay): the last two are of SGD. */
static PyObject *optimizer_step(PyObject *self, PyObject *args)
{
    step p = {.o = (optimizer *)self};
    if (!PyArg_ParseTuple(args, "dddd:step", &p.lr, &p.scale, &p.momentum, &p.weight_decay) ||
        run_step(ext_state_of(self), &p, p.o->adam ? step_adam : step_sgd) < 0)
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
