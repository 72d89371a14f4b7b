/* recipe.c: recipes by their keys, as texts; the package turns them into Python's values. */
#include <stdlib.h>
#include <string.h>

#include "recipe.h"

typedef struct recipe {
    PyObject_HEAD
    rapt_recipe r;
} recipe;

const rapt_recipe *recipe_of(const ext_state *s, PyObject *handle)
{
    if (Py_TYPE(handle) == s->recipe)
        return &((recipe *)handle)->r;
    ext_wrong_type("recipe", "a Recipe", handle);
    return NULL;
}

static void recipe_dealloc(PyObject *self)
{
    rapt_recipe_free(&((recipe *)self)->r);
    ext_free(self);
}

/* recipe(path or None): of a file, or with the defaults */
static PyObject *recipe_new(PyObject *module, PyObject *path)
{
    const ext_state *s = PyModule_GetState(module);
    recipe *self = (recipe *)ext_new(s->recipe);
    if (!self)
        return NULL;
    rapt_recipe_defaults(&self->r);
    if (path == Py_None)
        return (PyObject *)self;
    const char *file;
    PyObject *bytes = ext_path(path, &file);
    rapt_error err = {0};
    if (bytes && !rapt_recipe_read(file, &self->r, &err)) {
        Py_DECREF(bytes);
        return (PyObject *)self;
    }
    if (bytes)
        ext_raise(s, &err);
    Py_XDECREF(bytes);
    Py_DECREF((PyObject *)self);
    return NULL;
}

/* recipe_keys(): (name, type, default, range, meaning) of each key */
static PyObject *recipe_keys(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    size_t count = rapt_recipe_key_count();
    PyObject *list = PyList_New((Py_ssize_t)count), *item;
    for (size_t i = 0; list && i < count; i++) {
        rapt_recipe_key k;
        rapt_recipe_key_at(i, &k);
        item = Py_BuildValue("(sssss)", k.name, k.type, k.standard, k.range, k.meaning);
        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* set(name, value) */
static PyObject *recipe_set(PyObject *self, PyObject *args)
{
    PyObject *key, *value;
    if (!PyArg_ParseTuple(args, "OO:set", &key, &value))
        return NULL;
    const char *name = ext_text(key, "the name of a key"), *text = name ? ext_text(value, name) : NULL;
    rapt_error err = {0};
    if (!text)
        return NULL;
    return rapt_recipe_set_key(&((recipe *)self)->r, name, text, &err) ? ext_raise(ext_state_of(self), &err) : Py_NewRef(Py_None);
}

/* The str of a text from the library, which is freed. */
static PyObject *taken_text(char *text)
{
    PyObject *result = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape"); // paths may be any bytes
    free(text);
    return result;
}

/* get(name): the value as a text */
static PyObject *recipe_get(PyObject *self, PyObject *key)
{
    const char *name = ext_text(key, "the name of a key");
    char *value;
    rapt_error err = {0};
    if (!name)
        return NULL;
    return rapt_recipe_get(&((recipe *)self)->r, name, &value, &err) ? ext_raise(ext_state_of(self), &err) : taken_text(value);
}

static PyObject *recipe_yaml(PyObject *self, PyObject *unused)
{
    (void)unused;
    char *yaml;
    rapt_error err = {0};
    return rapt_recipe_format(&((recipe *)self)->r, &yaml, &err) ? ext_raise(ext_state_of(self), &err) : taken_text(yaml);
}

/* check(name of the recipe) */
static PyObject *recipe_check(PyObject *self, PyObject *path)
{
    const char *name;
    PyObject *bytes = ext_path(path, &name);
    rapt_error err = {0};
    if (!bytes)
        return NULL;
    rapt_code code = rapt_recipe_check(&((recipe *)self)->r, name, &err);
    Py_DECREF(bytes);
    return code ? ext_raise(ext_state_of(self), &err) : Py_NewRef(Py_None);
}

/* given(): the names of the keys that somebody has set */
static PyObject *recipe_given(PyObject *self, PyObject *unused)
{
    (void)unused;
    const rapt_recipe *r = &((recipe *)self)->r;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < rapt_recipe_key_count(); i++) {
        rapt_recipe_key k;
        if (!(r->given[i / 64] >> i % 64 & 1))
            continue;
        rapt_recipe_key_at(i, &k);
        PyObject *name = PyUnicode_FromString(k.name);
        if (!name || PyList_Append(list, name) < 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

PyMethodDef recipe_functions[] = {
    {"recipe", recipe_new, METH_O, NULL},
    {"recipe_keys", recipe_keys, METH_NOARGS, NULL},
    {0}};
static PyMethodDef recipe_methods[] = {
    {"set", recipe_set, METH_VARARGS, NULL},
    {"get", recipe_get, METH_O, NULL},
    {"yaml", recipe_yaml, METH_NOARGS, NULL},
    {"check", recipe_check, METH_O, NULL},
    {"given", recipe_given, METH_NOARGS, NULL},
    {0}};
static PyType_Slot recipe_slots[] = {{Py_tp_dealloc, recipe_dealloc}, {Py_tp_methods, recipe_methods}, {0}};
PyType_Spec recipe_spec = {"rapt._rapt.Recipe", sizeof(recipe), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                           recipe_slots};
