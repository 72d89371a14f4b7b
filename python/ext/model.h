/* model.h: the handle of a loaded model, for the files with its methods. */
#ifndef RAPT_PYTHON_MODEL_H
#define RAPT_PYTHON_MODEL_H

#include "ext.h"

#include "rapt/decode.h"

typedef struct model {
    PyObject_HEAD
    rapt_model *model;
    PyObject *owner;           /* of `model`; NULL: closed */
    PyObject *options;         /* the dict that `compute` points into */
    rapt_compute compute;
    PyThread_type_lock lock;   /* of the translator */
    rapt_translator *translator; /* made by the first translation, with `compute`; NULL: none yet */
} model;

/* The model of a handle that is not closed, with a new reference to its owner in *hold, so that it cannot be closed meanwhile;
 * NULL with an exception set. */
rapt_model *model_hold(PyObject *self, PyObject **hold);

/* The methods, by file. */
PyObject *model_translate(PyObject *self, PyObject *args);

#endif
