/* array_dlpack.c: arrays for numpy.from_dlpack, torch.from_dlpack and others, without a copy. */
#include <stdlib.h>

#include "array.h"
#include "dlpack.h"

/* Both kinds of a managed tensor, of which one is handed out, and the array that it keeps alive. */
typedef struct exported {
    dlpack_versioned versioned;
    dlpack_managed managed;
    int64_t shape[RAPT_MAX_DIMS], strides[RAPT_MAX_DIMS];
    PyObject *array;
} exported;

/* The consumer may call a deleter in any thread. */
static void exported_free(exported *e)
{
    PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF(e->array);
    PyGILState_Release(state);
    free(e);
}

static void delete_versioned(dlpack_versioned *v)
{
    exported_free(v->context);
}

static void delete_managed(dlpack_managed *m)
{
    exported_free(m->context);
}

/* Frees the tensor of a capsule that no program has taken over: who takes one over renames its capsule. */
static void capsule_free(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, "dltensor_versioned"))
        delete_versioned(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
    else if (PyCapsule_IsValid(capsule, "dltensor"))
        delete_managed(PyCapsule_GetPointer(capsule, "dltensor"));
}

/* The first number of max_version; 0 if it is None. */
static int major_of(PyObject *max_version, int *major)
{
    int minor;
    *major = 0;
    if (max_version == Py_None)
        return 0;
    if (PyTuple_Check(max_version))
        return PyArg_ParseTuple(max_version, "ii;max_version must be a tuple of two ints", major, &minor) ? 0 : -1;
    ext_wrong_type("max_version", "a tuple of two ints", max_version);
    return -1;
}

static PyObject *export_array(array *a, bool versioned, bool copied)
{
    exported *e = calloc(1, sizeof *e);
    if (!e)
        return PyErr_NoMemory();
    for (int i = 0; i < a->ndim; i++) {
        e->shape[i] = a->shape[i];
        e->strides[i] = a->strides[i] / 4;
    }
    dlpack_tensor tensor = {.data = a->data, .device = {DLPACK_CPU, 0}, .ndim = a->ndim,
                            .dtype = {a->is_int ? DLPACK_INT : DLPACK_FLOAT, 32, 1}, .shape = e->shape, .strides = e->strides};
    uint64_t flags = (a->writable ? 0 : DLPACK_READ_ONLY) | (copied ? DLPACK_IS_COPIED : 0);
    e->versioned = (dlpack_versioned){.version = {1, 1}, .context = e, .deleter = delete_versioned, .flags = flags,
                                      .tensor = tensor};
    e->managed = (dlpack_managed){.tensor = tensor, .context = e, .deleter = delete_managed};
    e->array = Py_NewRef((PyObject *)a);
    PyObject *capsule = versioned ? PyCapsule_New(&e->versioned, "dltensor_versioned", capsule_free)
                                  : PyCapsule_New(&e->managed, "dltensor", capsule_free);
    if (!capsule)
        exported_free(e);
    return capsule;
}

PyObject *array_dlpack(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject *stream = Py_None, *max_version = Py_None, *device = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$OOOO", names, &stream, &max_version, &device, &copy))
        return NULL;
    if (stream != Py_None) {
        PyErr_SetString(PyExc_BufferError, "arrays of rapt are in the memory of the CPU: stream must be None");
        return NULL;
    }
    if (device != Py_None) {
        int type, id;
        if (!PyTuple_Check(device))
            return ext_wrong_type("dl_device", "a tuple of two ints", device);
        if (!PyArg_ParseTuple(device, "ii;dl_device must be a tuple of two ints", &type, &id))
            return NULL;
        if (type != DLPACK_CPU || id != 0) {
            PyErr_SetString(PyExc_BufferError, "arrays of rapt are in the memory of the CPU: dl_device must be (1, 0)");
            return NULL;
        }
    }
    int major, wants_copy = major_of(max_version, &major) < 0 ? -1 : copy == Py_None ? 0 : PyObject_IsTrue(copy);
    if (wants_copy < 0)
        return NULL;
    if (major < 1 && !((array *)self)->writable && !wants_copy) {
        PyErr_SetString(PyExc_BufferError, "a read-only array, which DLPack before 1.0 cannot say: ask for a copy");
        return NULL;
    }
    PyObject *given = wants_copy ? array_copy(self, NULL) : Py_NewRef(self);
    PyObject *capsule = given ? export_array((array *)given, major >= 1, wants_copy) : NULL;
    Py_XDECREF(given);
    return capsule;
}

PyObject *array_dlpack_device(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return Py_BuildValue("(ii)", DLPACK_CPU, 0);
}
