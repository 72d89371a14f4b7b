/* parameter.c: rapt.nn.Parameter: a tensor that modules own and optimizers change. Each is a set of one, since modules are put
 * together after they are made. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn.h"

/* Parameters made since seed(): the number keys the random values of the next one. */
static unsigned long long made;

void parameter_restart(void)
{
    made = 0;
}

static void free_set(void *set)
{
    rapt_params_free(set);
}

/* The handle of the set's parameter; frees the set on failure. */
static PyObject *parameter_of(const ext_state *s, rapt_params *set, rapt_param *p)
{
    if (rapt_params_error(set)->code) {
        ext_raise(s, rapt_params_error(set));
        rapt_params_free(set);
        return NULL;
    }
    PyObject *owner = owner_new(s, set, free_set, NULL);
    array_of of = {.data = p->value.data, .ndim = p->value.ndim, .writable = !p->buffer};
    memcpy(of.shape, p->value.shape, sizeof of.shape);
    parameter *made_one = owner ? (parameter *)array_new_typed(s->parameter, &of, owner) : NULL;
    Py_XDECREF(owner);
    if (!made_one)
        return NULL;
    made_one->set = set;
    made_one->param = p;
    made_one->base.at = &p->value;
    made_one->base.value = (rapt_tensor){.data = p->value.data, .ndim = p->value.ndim};
    memcpy(made_one->base.value.shape, p->value.shape, sizeof p->value.shape);
    return (PyObject *)made_one;
}

/* `name` keys its random values; NULL: the next number does. */
static PyObject *parameter_make(const ext_state *s, const char *name, int ndim, const size_t *shape, rapt_init init)
{
    rapt_error err = {0};
    char number[32];
    snprintf(number, sizeof number, "parameter%llu", made);
    rapt_params *set = rapt_params_new(tape_seed(), &err);
    if (!set)
        return ext_raise(s, &err);
    PyObject *p = parameter_of(s, set, rapt_params_add(set, name ? name : number, ndim, shape, init));
    made += p != NULL && !name;
    return p;
}

/* positions(max_len, features): the table of sinusoidal positions, a buffer. */
static PyObject *nn_positions(PyObject *module, PyObject *args)
{
    Py_ssize_t max_len, features;
    rapt_error err = {0};
    const ext_state *s = PyModule_GetState(module);
    if (!PyArg_ParseTuple(args, "nn:positions", &max_len, &features))
        return NULL;
    if (max_len < 1 || features < 1) {
        ext_invalid("max_len and num_hiddens are 1 or more");
        return NULL;
    }
    rapt_params *set = rapt_params_new(tape_seed(), &err);
    if (!set)
        return ext_raise(s, &err);
    rapt_positions m = {0};
    rapt_positions_init(&m, set, "positions.", (size_t)max_len, (size_t)features, NULL);
    return parameter_of(s, set, m.table);
}

/* Parameter(data, requires_grad=True): a copy of the data. */
static PyObject *parameter_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"data", "requires_grad", NULL};
    PyObject *data;
    int requires_grad = 1;
    array_like from;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|p:Parameter", names, &data, &requires_grad) ||
        array_like_read(data, "data", false, &from) < 0)
        return NULL;
    const ext_state *s = PyModule_GetState(PyType_GetModule(type));
    const size_t one = 1;
    PyObject *p = parameter_make(s, NULL, from.ndim ? from.ndim : 1, from.ndim ? from.shape : &one, (rapt_init){0});
    if (p && !requires_grad && PyObject_SetAttrString(p, "requires_grad", Py_False) < 0)
        Py_CLEAR(p);
    if (p)
        memcpy(((parameter *)p)->param->value.data, from.data, from.count * sizeof(float));
    free(from.data);
    return p;
}

/* parameter(shape, kind, scale, name=None): with the library's initial values; kind is "zeros", "ones", "normal", "uniform" or
 * "xavier". The library draws the same for a parameter of this name. */
static PyObject *nn_parameter(PyObject *module, PyObject *args)
{
    static const char *const kinds[] = {"zeros", "ones", "normal", "uniform", "xavier"};
    PyObject *sizes;
    const char *kind, *name = NULL;
    double scale;
    size_t shape[RAPT_MAX_DIMS], at = 0;
    if (!PyArg_ParseTuple(args, "O!sd|z:parameter", &PyTuple_Type, &sizes, &kind, &scale, &name))
        return NULL;
    const Py_ssize_t ndim = PyTuple_Size(sizes);
    if (ndim < 1 || ndim > RAPT_MAX_DIMS) {
        ext_invalid("a parameter has 1 to 4 dimensions");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < ndim; i++) {
        PyObject *size = PyTuple_GetItem(sizes, i);
        if (!PyLong_Check(size) || PyBool_Check(size))
            return ext_wrong_type("a size", "an int", size);
        shape[i] = PyLong_AsSize_t(size);
        if (PyErr_Occurred()) {
            PyErr_Clear();
            ext_invalid("a size is out of range: %S", size);
            return NULL;
        }
    }
    while (at < 5 && strcmp(kinds[at], kind) != 0)
        at++;
    if (at == 5) {
        ext_invalid("there are no initial values '%s'", kind);
        return NULL;
    }
    return parameter_make(PyModule_GetState(module), name, (int)ndim, shape, (rapt_init){(rapt_init_kind)at, scale});
}

static PyObject *get_grad(PyObject *self, void *unused)
{
    (void)unused;
    const parameter *p = (parameter *)self;
    const rapt_tensor *value = &p->param->value;
    if (!value->grad_filled || !value->requires_grad)
        Py_RETURN_NONE;
    float *data = malloc(rapt_tensor_size(value) * sizeof *data);
    if (!data)
        return PyErr_NoMemory();
    memcpy(data, value->grad, rapt_tensor_size(value) * sizeof *data);
    return tensor_of(ext_state_of(self), data, value->ndim, value->shape, false);
}

static int set_grad(PyObject *self, PyObject *value, void *unused)
{
    (void)unused;
    if (value && value != Py_None) {
        ext_wrong_type("grad", "None", value);
        return -1;
    }
    rapt_params_zero_grad(((parameter *)self)->set);
    return 0;
}

static PyObject *get_requires_grad(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((parameter *)self)->param->value.requires_grad);
}

static int set_requires_grad(PyObject *self, PyObject *value, void *unused)
{
    (void)unused;
    rapt_param *p = ((parameter *)self)->param;
    bool wanted;
    if (ext_bool_read(value, "requires_grad", &wanted) < 0)
        return -1;
    if (p->buffer) {
        PyErr_SetString(PyExc_ValueError, "a buffer is never trained");
        return -1;
    }
    p->frozen = !wanted;
    p->value.requires_grad = !p->frozen;
    return 0;
}

static PyObject *get_name(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(((parameter *)self)->param->value.name);
}

/* All names stay in the memory of the set: tensors of a pass may have one as theirs. A module that runs in turn by itself and as
 * a part of another gives two in turn. */
static int set_name(PyObject *self, PyObject *value, void *unused)
{
    (void)unused;
    parameter *p = (parameter *)self;
    const char *text = value ? ext_text(value, "name") : NULL;
    if (!text || !*text) {
        if (!PyErr_Occurred())
            ext_invalid("a parameter has a name");
        return -1;
    }
    parameter_name *kept = p->names;
    while (kept && strcmp(text, kept->text) != 0)
        kept = kept->next;
    if (!kept && !(kept = rapt_params_alloc(p->set, 1, sizeof *kept + strlen(text) + 1))) {
        PyErr_NoMemory();
        return -1;
    }
    if (!*kept->text) {
        memcpy(kept->text, text, strlen(text) + 1);
        kept->next = p->names;
        p->names = kept;
    }
    p->param->value.name = kept->text;
    return 0;
}

/* assign(values): writes values of the same shape. */
static PyObject *parameter_assign(PyObject *self, PyObject *values)
{
    parameter *p = (parameter *)self;
    const rapt_tensor *to = &p->param->value;
    array_like from;
    if (array_like_read(values, p->param->value.name, false, &from) < 0)
        return NULL;
    bool fits = from.ndim == to->ndim && !memcmp(from.shape, to->shape, (size_t)to->ndim * sizeof *to->shape);
    if (fits) {
        rapt_params_at(p->set, 0); // applies what an optimizer has deferred, which would be added to the new values
        memcpy(to->data, from.data, from.count * sizeof(float));
    } else {
        char own[96], given[96];
        PyErr_Format(ext_state_of(self)->errors[RAPT_ERR_SHAPE], "parameter \"%s\" is %s, the values are %s", to->name,
                     rapt_shape_text(to, own, sizeof own), array_like_shape(&from, given, sizeof given));
    }
    free(from.data);
    return fits ? Py_NewRef(Py_None) : NULL;
}

/* make_sparse(): gradient and optimizer touch only the rows that a step used. */
static PyObject *parameter_make_sparse(PyObject *self, PyObject *unused)
{
    (void)unused;
    parameter *p = (parameter *)self;
    rapt_param_make_sparse(p->set, p->param);
    if (rapt_params_error(p->set)->code)
        return ext_raise(ext_state_of(self), rapt_params_error(p->set));
    Py_RETURN_NONE;
}

static PyMethodDef parameter_methods[] = {
    {"assign", parameter_assign, METH_O,
     "assign($self, values, /)\n--\n\nWrites the values of an array of the same shape. ShapeError: it has another one."},
    {"_make_sparse", parameter_make_sparse, METH_NOARGS, NULL},
    {0}};
static PyGetSetDef parameter_members[] = {
    {"grad", get_grad, set_grad, "A copy of the gradients that backward passes have added up, or None. May be set to None.",
     NULL},
    {"requires_grad", get_requires_grad, set_requires_grad, "Whether it is trained.", NULL},
    {"name", get_name, set_name, "Its name in the module that ran last ('blks.0.attention.W_q.weight').", NULL},
    {0}};
PyMethodDef parameter_functions[] = {{"parameter", nn_parameter, METH_VARARGS, NULL},
                                     {"positions", nn_positions, METH_VARARGS, NULL}, {0}};
static PyType_Slot parameter_slots[] = {
    {Py_tp_doc, "Parameter(data, requires_grad=True)\n--\n\n"
                "A tensor that optimizers change: the values are a copy of `data`. NumPy can write its elements in place."},
    {Py_tp_new, parameter_new}, {Py_tp_dealloc, tensor_dealloc}, {Py_tp_methods, parameter_methods},
    {Py_tp_getset, parameter_members}, {0}};
PyType_Spec parameter_spec = {"rapt.nn.Parameter", sizeof(parameter), 0, Py_TPFLAGS_DEFAULT, parameter_slots};
