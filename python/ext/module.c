/* module.c: the module rapt._rapt: its types, functions and exceptions. */
#include "ext.h"

ext_state *ext_state_of(PyObject *handle)
{
    return PyModule_GetState(PyType_GetModule(Py_TYPE(handle)));
}

PyObject *ext_new(PyTypeObject *type)
{
    return PyType_GenericAlloc(type, 0);
}

void ext_free(PyObject *handle)
{
    PyTypeObject *type = Py_TYPE(handle);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(handle);
    Py_DECREF(type);
}

static int add_type(PyObject *module, PyTypeObject **place, PyType_Spec *spec, PyTypeObject *base)
{
    *place = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, (PyObject *)base);
    return *place ? PyModule_AddType(module, *place) : -1;
}

static int module_exec(PyObject *module)
{
    ext_state *s = PyModule_GetState(module);
#define EXT_ADD_TYPE(name) add_type(module, &s->name, &name##_spec, NULL) < 0 ||
#define EXT_ADD_SUBTYPE(name, base) add_type(module, &s->name, &name##_spec, s->base) < 0 ||
#define EXT_ADD_FUNCTIONS(name) PyModule_AddFunctions(module, name##_functions) < 0 ||
    if (EXT_TYPES(EXT_ADD_TYPE) EXT_SUBTYPES(EXT_ADD_SUBTYPE) EXT_FUNCTIONS(EXT_ADD_FUNCTIONS) ext_add_errors(module, s) < 0)
        return -1;
#undef EXT_ADD_TYPE
#undef EXT_ADD_SUBTYPE
#undef EXT_ADD_FUNCTIONS
    return PyModule_AddStringConstant(module, "version", rapt_version());
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    ext_state *s = PyModule_GetState(module);
#define EXT_VISIT(name) Py_VISIT(s->name);
#define EXT_VISIT_SUBTYPE(name, base) Py_VISIT(s->name);
    EXT_TYPES(EXT_VISIT)
    EXT_SUBTYPES(EXT_VISIT_SUBTYPE)
#undef EXT_VISIT
#undef EXT_VISIT_SUBTYPE
    for (size_t i = 0; i < sizeof s->errors / sizeof *s->errors; i++)
        Py_VISIT(s->errors[i]);
    return 0;
}

static int module_clear(PyObject *module)
{
    ext_state *s = PyModule_GetState(module);
#define EXT_CLEAR(name) Py_CLEAR(s->name);
#define EXT_CLEAR_SUBTYPE(name, base) Py_CLEAR(s->name);
    EXT_TYPES(EXT_CLEAR)
    EXT_SUBTYPES(EXT_CLEAR_SUBTYPE)
#undef EXT_CLEAR
#undef EXT_CLEAR_SUBTYPE
    for (size_t i = 0; i < sizeof s->errors / sizeof *s->errors; i++)
        Py_CLEAR(s->errors[i]);
    return 0;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec}, {0}};
static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "rapt._rapt",
    .m_doc = "The C library, for the package rapt. Private.",
    .m_size = sizeof(ext_state),
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
};

PyMODINIT_FUNC PyInit__rapt(void);
PyMODINIT_FUNC PyInit__rapt(void)
{
    return PyModuleDef_Init(&module_def);
}
