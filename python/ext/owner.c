/* owner.c: an object that frees memory of the library when nothing uses it any more. */
#include "ext.h"

typedef struct owner {
    PyObject_HEAD
    void *memory;
    void (*free_it)(void *);
    PyObject *under;
} owner;

static void owner_dealloc(PyObject *self)
{
    owner *o = (owner *)self;
    if (o->memory)
        o->free_it(o->memory);
    Py_XDECREF(o->under);
    ext_free(self);
}

static PyType_Slot owner_slots[] = {{Py_tp_dealloc, owner_dealloc}, {0}};
PyType_Spec owner_spec = {"rapt._rapt.Owner", sizeof(owner), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                          owner_slots};

PyObject *owner_new(const ext_state *s, void *memory, void (*free_it)(void *), PyObject *under)
{
    owner *o = (owner *)ext_new(s->owner);
    if (!o) {
        if (memory)
            free_it(memory);
        return NULL;
    }
    *o = (owner){.ob_base = o->ob_base, .memory = memory, .free_it = free_it, .under = Py_XNewRef(under)};
    return (PyObject *)o;
}

void *owner_memory(PyObject *self)
{
    return ((owner *)self)->memory;
}

bool owner_is_sole(PyObject *self)
{
    return Py_REFCNT(self) == 1;
}
