/* figure.c: heat maps and curves as SVG, which the library draws. */
#include <stddef.h>
#include <stdlib.h>

#include "array.h"

#include "rapt/figure.h"

static const option_row HEATMAP[] = {
    {"title", OPTION_TEXT, offsetof(rapt_heatmap_options, title)},
    {"x", OPTION_TEXT, offsetof(rapt_heatmap_options, x)},
    {"y", OPTION_TEXT, offsetof(rapt_heatmap_options, y)},
    {"bar", OPTION_TEXT, offsetof(rapt_heatmap_options, bar)},
    {"low", OPTION_DOUBLE, offsetof(rapt_heatmap_options, low)},
    {"high", OPTION_DOUBLE, offsetof(rapt_heatmap_options, high)},
    {"cells", OPTION_SIZE, offsetof(rapt_heatmap_options, cells)},
    {0}};

/* The names of a side: a list of `count` str, or None. */
static int read_names(PyObject *list, const char *name, size_t count, ext_texts *texts)
{
    if (list == Py_None)
        return 0;
    if (ext_texts_read(list, name, texts) < 0)
        return -1;
    if (texts->count == count)
        return 0;
    ext_invalid("there are %zu %s for %zu", texts->count, name, count);
    return -1;
}

static PyObject *svg_text(const ext_state *s, rapt_code code, char *svg, size_t size, const rapt_error *err)
{
    PyObject *text = code ? ext_raise(s, err) : PyUnicode_DecodeUTF8(svg, (Py_ssize_t)size, "replace");
    free(svg);
    return text;
}

/* heatmap_svg(matrix, names of rows or None, names of columns or None, options) */
static PyObject *heatmap_svg(PyObject *module, PyObject *args)
{
    PyObject *matrix, *row_list, *column_list, *dict, *text = NULL;
    if (!PyArg_ParseTuple(args, "OOOO!:heatmap_svg", &matrix, &row_list, &column_list, &PyDict_Type, &dict))
        return NULL;
    array_like values = {0};
    ext_texts rows = {0}, columns = {0};
    rapt_heatmap_options o = rapt_heatmap_options_default();
    if (array_like_read(matrix, "matrix", false, &values) < 0)
        return NULL;
    if (values.ndim != 2) {
        ext_invalid("a heat map has 2 dimensions, not %d%s", values.ndim,
                    values.ndim > 2 ? ": index one matrix, such as [0]" : "");
        goto end;
    }
    if (options_read(dict, HEATMAP, &o) < 0 || read_names(row_list, "rows", values.shape[0], &rows) < 0 ||
        read_names(column_list, "columns", values.shape[1], &columns) < 0)
        goto end;
    o.row_names = rows.texts;
    o.column_names = columns.texts;
    char *svg = NULL;
    size_t size;
    ext_call c;
    rapt_error err = {0};
    ext_call_begin(&c, NULL);
    rapt_code code = rapt_heatmap_svg(values.data, values.shape[0], values.shape[1], &o, &svg, &size, &err);
    ext_call_end(&c);
    text = svg_text(PyModule_GetState(module), code, svg, size, &err);
end:
    free(values.data);
    ext_texts_free(&rows);
    ext_texts_free(&columns);
    return text;
}

static const option_row CURVES[] = {
    {"title", OPTION_TEXT, offsetof(rapt_curves_options, title)},
    {"x", OPTION_TEXT, offsetof(rapt_curves_options, x)},
    {"y", OPTION_TEXT, offsetof(rapt_curves_options, y)},
    {"log_y", OPTION_BOOL, offsetof(rapt_curves_options, log_y)},
    {0}};

/* The numbers of a list of floats; NULL with an exception set. */
static double *doubles_read(PyObject *list, size_t *count)
{
    PyObject *tuple = PySequence_Tuple(list);
    *count = tuple ? (size_t)PyTuple_Size(tuple) : 0;
    double *values = tuple ? PyMem_Calloc(*count + 1, sizeof *values) : NULL;
    if (tuple && !values)
        PyErr_NoMemory();
    for (size_t i = 0; values && i < *count; i++) {
        values[i] = PyFloat_AsDouble(PyTuple_GetItem(tuple, (Py_ssize_t)i));
        if (PyErr_Occurred()) {
            PyMem_Free(values);
            values = NULL;
        }
    }
    Py_XDECREF(tuple);
    return values;
}

/* A curve of (name, xs, ys); its numbers belong to the caller from then on. */
static int curve_read(PyObject *tuple, rapt_curve *curve)
{
    PyObject *name, *xs, *ys;
    size_t count;
    if (!PyArg_ParseTuple(tuple, "OOO;a curve is a tuple of name, xs and ys", &name, &xs, &ys) ||
        !(curve->name = ext_text(name, "the name of a curve")) || !(curve->x = doubles_read(xs, &curve->count)) ||
        !(curve->y = doubles_read(ys, &count)))
        return -1;
    if (count == curve->count)
        return 0;
    ext_invalid("a curve has %zu xs and %zu ys", curve->count, count);
    return -1;
}

/* curves_svg([(name, xs, ys), ...], options) */
static PyObject *curves_svg(PyObject *module, PyObject *args)
{
    PyObject *list, *dict, *text = NULL;
    if (!PyArg_ParseTuple(args, "O!O!:curves_svg", &PyTuple_Type, &list, &PyDict_Type, &dict))
        return NULL;
    rapt_curves_options o = rapt_curves_options_default();
    const size_t count = (size_t)PyTuple_Size(list);
    rapt_curve *curves = PyMem_Calloc(count + 1, sizeof *curves);
    if (!curves)
        return PyErr_NoMemory();
    bool ok = options_read(dict, CURVES, &o) == 0;
    for (size_t i = 0; ok && i < count; i++) {
        PyObject *curve = PyTuple_GetItem(list, (Py_ssize_t)i);
        ok = PyTuple_Check(curve) ? curve_read(curve, &curves[i]) == 0 : (ext_wrong_type("a curve", "a tuple", curve), false);
    }
    if (ok) {
        char *svg = NULL;
        size_t size;
        ext_call c;
        rapt_error err = {0};
        ext_call_begin(&c, NULL);
        rapt_code code = rapt_curves_svg(curves, count, &o, &svg, &size, &err);
        ext_call_end(&c);
        text = svg_text(PyModule_GetState(module), code, svg, size, &err);
    }
    for (size_t i = 0; i < count; i++) {
        PyMem_Free((void *)curves[i].x);
        PyMem_Free((void *)curves[i].y);
    }
    PyMem_Free(curves);
    return text;
}

PyMethodDef figure_functions[] = {
    {"heatmap_svg", heatmap_svg, METH_VARARGS, NULL}, {"curves_svg", curves_svg, METH_VARARGS, NULL}, {0}};
