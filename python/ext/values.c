/* values.c: texts, lists of texts, paths and options from Python. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "ext.h"

bool ext_sized(PyObject *text, const char *name, rapt_text *sized)
{
    if (!PyUnicode_Check(text)) {
        ext_wrong_type(name, "a str", text);
        return false;
    }
    Py_ssize_t size;
    sized->data = PyUnicode_AsUTF8AndSize(text, &size);
    sized->size = (size_t)size;
    return sized->data;
}

const char *ext_text(PyObject *text, const char *name)
{
    rapt_text sized;
    if (!ext_sized(text, name, &sized))
        return NULL;
    if (strlen(sized.data) == sized.size)
        return sized.data;
    ext_invalid("%s has a character U+0000", name);
    return NULL;
}

static bool read_text(PyObject *text, const char *list, size_t i, bool zeros, ext_texts *out)
{
    char place[64] = "";
    if (!zeros || !PyUnicode_Check(text)) // only messages name it
        snprintf(place, sizeof place, "%s[%zu]", list, i);
    if (!ext_sized(text, place, &out->sized[i]))
        return false;
    out->texts[i] = out->sized[i].data;
    return zeros || ext_text(text, place);
}

static int read_texts(PyObject *list, const char *name, bool zeros, ext_texts *out)
{
    *out = (ext_texts){0};
    if (!PyList_Check(list) && !PyTuple_Check(list)) { // a str is a sequence of str, too, and a dict has keys
        ext_wrong_type(name, "a list or tuple of str", list);
        return -1;
    }
    if (!(out->sequence = PySequence_Tuple(list))) // nobody can change it while the library reads it
        return -1;
    out->count = (size_t)PyTuple_Size(out->sequence);
    out->texts = PyMem_Malloc((out->count + 1) * sizeof *out->texts);
    out->sized = PyMem_Malloc((out->count + 1) * sizeof *out->sized);
    bool ok = out->texts && out->sized;
    if (!ok)
        PyErr_NoMemory();
    for (size_t i = 0; ok && i < out->count; i++)
        ok = read_text(PyTuple_GetItem(out->sequence, (Py_ssize_t)i), name, i, zeros, out);
    if (!ok)
        ext_texts_free(out);
    return ok ? 0 : -1;
}

int ext_texts_read(PyObject *list, const char *name, ext_texts *out)
{
    return read_texts(list, name, false, out);
}

int ext_sized_read(PyObject *list, const char *name, ext_texts *out)
{
    return read_texts(list, name, true, out);
}

void ext_texts_free(ext_texts *t)
{
    PyMem_Free(t->texts);
    PyMem_Free(t->sized);
    Py_XDECREF(t->sequence);
    *t = (ext_texts){0};
}

PyObject *ext_path(PyObject *path, const char **text)
{
    PyObject *bytes;
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    *text = PyBytes_AsString(bytes); // it has no zero: the converter refuses one
    return bytes;
}

bool ext_is_bool(PyObject *value)
{
    if (PyBool_Check(value) || PyLong_Check(value) || PyFloat_Check(value))
        return PyBool_Check(value);
    PyObject *name = PyType_GetName(Py_TYPE(value));
    const char *text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    bool is_bool = text && (!strcmp(text, "bool_") || !strcmp(text, "bool")); // NumPy's, which is no subclass
    Py_XDECREF(name);
    return is_bool;
}

int ext_bool_read(PyObject *value, const char *name, bool *out)
{
    int truth = -1;
    if (value && ext_is_bool(value))
        truth = PyObject_IsTrue(value);
    else
        ext_wrong_type(name, "a bool", value ? value : Py_None);
    *out = truth == 1;
    return truth < 0 ? -1 : 0;
}

PyObject *ext_integer(PyObject *value, const char *name)
{
    if (ext_is_bool(value) || !PyIndex_Check(value)) // True is not meant as 1
        return ext_wrong_type(name, "an int", value);
    return PyNumber_Index(value);
}

int ext_double_read(PyObject *value, const char *name, double *out)
{
    if (ext_is_bool(value) || !(PyType_GetSlot(Py_TYPE(value), Py_nb_float) || PyIndex_Check(value))) {
        ext_wrong_type(name, "a float", value);
        return -1;
    }
    *out = PyFloat_AsDouble(value);
    return PyErr_Occurred() ? -1 : 0;
}

static int out_of_range(const char *name, PyObject *value)
{
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_OverflowError))
        return -1;
    PyErr_Clear();
    ext_invalid("%s is out of range: %S", name, value);
    return -1;
}

static int write_integer(const option_row *row, PyObject *value, void *place)
{
    if (row->kind == OPTION_INT) {
        long number = PyLong_AsLong(value);
        if (PyErr_Occurred() || number < INT_MIN || number > INT_MAX)
            return out_of_range(row->name, value);
        *(int *)place = (int)number;
        return 0;
    }
    unsigned long long number = PyLong_AsUnsignedLongLong(value);
    if (PyErr_Occurred())
        return out_of_range(row->name, value);
    if (row->kind == OPTION_SEED)
        *(uint64_t *)place = number;
    else if (number > SIZE_MAX)
        return out_of_range(row->name, value);
    else
        *(size_t *)place = (size_t)number;
    return 0;
}

static int read_integer(const option_row *row, PyObject *value, void *place)
{
    PyObject *integer = ext_integer(value, row->name);
    int result = integer ? write_integer(row, integer, place) : -1;
    Py_XDECREF(integer);
    return result;
}

static int read_double(const option_row *row, PyObject *value, double *place)
{
    if (ext_double_read(value, row->name, place) == 0)
        return 0;
    return PyErr_ExceptionMatches(PyExc_OverflowError) ? out_of_range(row->name, value) : -1;
}

static int read_name(const option_row *row, PyObject *value, int *place)
{
    const char *text = ext_text(value, row->name);
    if (!text)
        return -1;
    PyObject *list = PyUnicode_FromString("");
    for (int i = 0; list && row->names[i]; i++) {
        if (!strcmp(row->names[i], text)) {
            *place = i;
            Py_DECREF(list);
            return 0;
        }
        PyObject *longer = PyUnicode_FromFormat("%U%s'%s'", list, i ? ", " : "", row->names[i]);
        Py_DECREF(list);
        list = longer;
    }
    if (list)
        ext_invalid("%s is '%s'; it can be: %U", row->name, text, list);
    Py_XDECREF(list);
    return -1;
}

static int read_type(const option_row *row, PyObject *value, rapt_type *place)
{
    const char *text = ext_text(value, row->name);
    rapt_error err = {0};
    if (text && !rapt_type_parse(text, place, &err))
        return 0;
    if (text)
        ext_invalid("%s: %s", row->name, err.message);
    return -1;
}

static int read_bool(const option_row *row, PyObject *value, void *place)
{
    bool truth;
    if (ext_bool_read(value, row->name, &truth) < 0)
        return -1;
    if (row->kind == OPTION_TRISTATE)
        *(int *)place = truth;
    else
        *(bool *)place = truth;
    return 0;
}

static int read_option(const option_row *row, PyObject *value, void *options)
{
    void *place = (char *)options + row->offset;
    switch (row->kind) {
    case OPTION_SIZE:
    case OPTION_INT:
    case OPTION_SEED: return read_integer(row, value, place);
    case OPTION_DOUBLE: return read_double(row, value, place);
    case OPTION_BOOL:
    case OPTION_TRISTATE: return read_bool(row, value, place);
    case OPTION_TEXT: return (*(const char **)place = ext_text(value, row->name)) ? 0 : -1;
    case OPTION_SIZED: return ext_sized(value, row->name, place) ? 0 : -1;
    case OPTION_NAME: return read_name(row, value, place);
    case OPTION_TYPE: return read_type(row, value, place);
    case OPTION_ROWS: break; // option_find returns none
    }
    return -1;
}

/* The row of a name, and in *options the struct that its member is in; NULL: there is none. */
static const option_row *option_find(const option_row *table, const char *name, void **options)
{
    for (const option_row *row = table; row->name; row++) {
        if (row->kind != OPTION_ROWS) {
            if (strcmp(row->name, name) == 0)
                return row;
            continue;
        }
        void *within = (char *)*options + row->offset;
        const option_row *found = option_find(row->rows, name, &within);
        if (found) {
            *options = within;
            return found;
        }
    }
    return NULL;
}

int options_read(PyObject *values, const option_row *table, void *options)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(values, &at, &key, &value)) {
        if (value == Py_None) // most are, in most calls
            continue;
        const char *name = ext_text(key, "the name of an option");
        void *within = options;
        const option_row *row = name ? option_find(table, name, &within) : NULL;
        if (!name)
            return -1;
        if (!row) {
            PyErr_Format(PyExc_TypeError, "there is no option '%s'", name);
            return -1;
        }
        if (read_option(row, value, within) < 0)
            return -1;
    }
    return 0;
}
