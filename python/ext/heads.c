/* heads.c: the attention heads of a model, and the model with some of them switched off. */
#include <stddef.h>

#include "model.h"

#include "rapt/heads.h"

static void free_model(void *m)
{
    rapt_model_free(m);
}

/* A list of (name, is off), in the order of the blocks. */
PyObject *model_heads(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *hold;
    const rapt_model *m = model_hold(self, &hold);
    PyObject *list = m ? PyList_New(0) : NULL;
    for (size_t i = 0; list && i < rapt_model_head_count(m); i++) {
        const rapt_head head = rapt_model_head(m, i);
        PyObject *name = PyUnicode_FromFormat("%s.%zu", head.attention, head.index);
        PyObject *pair = name ? PyTuple_Pack(2, name, head.off ? Py_True : Py_False) : NULL;
        if (!pair || PyList_Append(list, pair) < 0)
            Py_CLEAR(list);
        Py_XDECREF(pair);
        Py_XDECREF(name);
    }
    if (m)
        Py_DECREF(hold);
    return list;
}

static PyObject *without_heads(const ext_state *s, const model *m, PyObject *hold, const ext_texts *names)
{
    model *less = model_new(s, m->options);
    rapt_error err = {0};
    if (!less)
        return NULL;
    less->compute = m->compute;
    less->trainable = m->trainable;
    less->model = rapt_model_without_heads(m->model, names->texts, names->count, &err);
    if (!less->model)
        ext_raise(s, &err);
    else
        less->owner = owner_new(s, less->model, free_model, hold);
    if (less->owner)
        return (PyObject *)less;
    Py_DECREF((PyObject *)less);
    return NULL;
}

/* without_heads(names): a handle, which keeps the memory of this one alive */
PyObject *model_without_heads(PyObject *self, PyObject *list)
{
    ext_texts names = {0};
    PyObject *hold, *less = NULL;
    const model *m = (const model *)self;
    if (!model_hold(self, &hold))
        return NULL;
    const rapt_error lent = {.code = RAPT_ERR_VALUE,
                             .message = "the model belongs to a training run, which changes it; load what the run saves"};
    if (m->lent)
        ext_raise(ext_state_of(self), &lent);
    else if (ext_texts_read(list, "names", &names) == 0)
        less = without_heads(ext_state_of(self), m, hold, &names);
    ext_texts_free(&names);
    Py_DECREF(hold);
    return less;
}
