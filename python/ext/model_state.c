/* model_state.c: writes the values of a model's parameters. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "model.h"

/* Values for one parameter. */
typedef struct change {
    float *to;
    array_like values;
} change;

static bool same_shape(const rapt_param *p, const array_like *a)
{
    bool same = p->value.ndim == a->ndim;
    for (int d = 0; same && d < a->ndim; d++)
        same = p->value.shape[d] == a->shape[d];
    return same;
}

/* "[2, 3]" */
static PyObject *shape_text(int ndim, const size_t *shape)
{
    PyObject *text = PyUnicode_FromString("[");
    for (int d = 0; text && d < ndim; d++) {
        PyObject *longer = PyUnicode_FromFormat("%U%s%zu", text, d ? ", " : "", shape[d]);
        Py_DECREF(text);
        text = longer;
    }
    PyObject *whole = text ? PyUnicode_FromFormat("%U]", text) : NULL;
    Py_XDECREF(text);
    return whole;
}

static int read_change(const ext_state *s, rapt_params *set, PyObject *key, PyObject *value, change *out)
{
    const char *name = ext_text(key, "the name of a parameter");
    rapt_param *p = name ? rapt_params_find(set, name) : NULL;
    if (!p) {
        if (name)
            ext_invalid("the model has no parameter %s", name);
        return -1;
    }
    if (array_like_read(value, name, false, &out->values) < 0)
        return -1;
    out->to = p->value.data;
    if (same_shape(p, &out->values))
        return 0;
    PyObject *own = shape_text(p->value.ndim, p->value.shape), *given = shape_text(out->values.ndim, out->values.shape);
    if (own && given)
        PyErr_Format(s->errors[RAPT_ERR_SHAPE], "%s is %U in the model, and %U here", name, own, given);
    Py_XDECREF(own);
    Py_XDECREF(given);
    return -1;
}

/* Whether a dict has all parameters that a file of the model has. */
static int check_whole(rapt_params *set, PyObject *dict)
{
    for (size_t i = 0; i < rapt_params_count(set); i++) {
        const rapt_param *p = rapt_params_at(set, i);
        if (!p->transient && !PyDict_GetItemString(dict, p->value.name)) {
            ext_invalid("%s is missing", p->value.name);
            return -1;
        }
    }
    return 0;
}

/* Writes all changes, while no translation runs, and forgets the weights that the translator has packed. */
static int write_changes(const ext_state *s, model *m, const change *changes, size_t count)
{
    ext_call c;
    rapt_error err = {0};
    ext_call_begin(&c, NULL);
    rapt_code code = ext_lock(&c, &m->lock, &err);
    for (size_t i = 0; !code && i < count; i++)
        memcpy(changes[i].to, changes[i].values.data, changes[i].values.count * sizeof(float));
    if (!code) {
        rapt_translator_free(m->translator);
        m->translator = NULL;
        ext_unlock(&m->lock);
    }
    ext_call_end(&c);
    if (code)
        ext_raise(s, &err);
    return code ? -1 : 0;
}

/* load_state(dict, strict): all or nothing */
PyObject *model_load_state(PyObject *self, PyObject *args)
{
    PyObject *dict, *key, *value, *hold, *result = NULL;
    int strict;
    if (!PyArg_ParseTuple(args, "O!p:load_state", &PyDict_Type, &dict, &strict))
        return NULL;
    model *m = (model *)self;
    if (!model_begin(self, &hold))
        return NULL;
    rapt_params *set = rapt_model_params(m->model);
    size_t count = 0;
    Py_ssize_t at = 0;
    change *changes = PyMem_Calloc((size_t)PyDict_Size(dict) + 1, sizeof *changes);
    if (!changes)
        PyErr_NoMemory();
    if (!changes || (strict && check_whole(set, dict) < 0))
        goto end;
    while (PyDict_Next(dict, &at, &key, &value)) {
        if (read_change(ext_state_of(self), set, key, value, &changes[count++]) < 0)
            goto end;
    }
    if (!m->trainable)
        PyErr_SetString(PyExc_ValueError, "the model was not loaded with trainable=True "
                                          "(Model.load or Run.model with trainable=True)");
    else if (write_changes(ext_state_of(self), m, changes, count) == 0)
        result = Py_NewRef(Py_None);
end:
    for (size_t i = 0; i < count; i++)
        free(changes[i].values.data);
    PyMem_Free(changes);
    model_end(self, hold);
    return result;
}
