/* errors.c: the library's codes as exceptions. Each has the built-in parent that a Python program expects, and the message of
 * the library, in which options of the program are parameters of the package. */
#include <stdio.h>
#include <string.h>

#include "ext.h"

/* The parent of each code's exception; PyExc_* are no constants. */
static PyObject *parent_of(rapt_code code)
{
    switch (code) {
    case RAPT_ERR_MEMORY: return PyExc_MemoryError;
    case RAPT_ERR_IO: return PyExc_OSError;
    case RAPT_ERR_NOT_FOUND: return PyExc_FileNotFoundError;
    case RAPT_ERR_NOT_FINITE: return PyExc_ArithmeticError;
    case RAPT_ERR_FORMAT:
    case RAPT_ERR_SHAPE:
    case RAPT_ERR_VALUE: return PyExc_ValueError;
    default: return NULL;
    }
}

static const struct {
    const char *name, *doc;
} classes[] = {
    [RAPT_OK] = {"Error", "What rapt could not do. `code` is the library's word for the kind of failure."},
    [RAPT_ERR_MEMORY] = {"OutOfMemoryError", "There is not enough memory."},
    [RAPT_ERR_IO] = {"IOFailure", "A file could not be read or written."},
    [RAPT_ERR_FORMAT] = {"FormatError", "A file or a text is not what it should be."},
    [RAPT_ERR_SHAPE] = {"ShapeError", "The shapes of arrays do not fit each other."},
    [RAPT_ERR_VALUE] = {"InvalidValueError", "An option or a value is out of its range."},
    [RAPT_ERR_NOT_FOUND] = {"NotFoundError", "A file, or a name, does not exist."},
    [RAPT_ERR_NOT_FINITE] = {"NotFiniteError", "A computation gave a value that is not a finite number."},
    [RAPT_ERR_INTERRUPTED] = {"InterruptedRunError", "The call was cancelled."},
};

int ext_add_errors(PyObject *module, ext_state *s)
{
    for (rapt_code code = RAPT_OK; code <= RAPT_ERR_INTERRUPTED; code++) {
        char name[64];
        snprintf(name, sizeof name, "rapt.%s", classes[code].name);
        PyObject *parent = parent_of(code), *base = code == RAPT_OK ? PyExc_Exception : s->errors[RAPT_OK];
        PyObject *bases = parent ? PyTuple_Pack(2, base, parent) : PyTuple_Pack(1, base);
        PyObject *members = Py_BuildValue("{ss}", "code", rapt_code_name(code));
        s->errors[code] = bases && members ? PyErr_NewExceptionWithDoc(name, classes[code].doc, bases, members) : NULL;
        Py_XDECREF(bases);
        Py_XDECREF(members);
        if (!s->errors[code] || PyModule_AddObjectRef(module, classes[code].name, s->errors[code]) < 0)
            return -1;
    }
    return 0;
}

/* What the library's messages say to users of the program, and what that is here. The first that fits counts. Each has enough of
 * the sentence around an option that no path or text, which messages quote, is taken for it; one that begins with an option
 * counts only where the message begins. */
static const char *const phrases[][2] = {
    {"hypotheses (--n-best) need a beam (--beam) of ", "hypotheses (n_best) need a beam (beam) of "},
    {"; --beam 1 turns it off", "; beam=1 turns it off"},
    {"there is a loss with gradients only (--train)", "there is a loss with gradients only (gradients=True)"},
    {"--reset-optimizer is for a run that is resumed: --resume", "reset_optimizer is for a run that is resumed: resume"},
    {"--max-steps is ", "max_steps is "},
    {"--max-steps ", "max_steps="},
    {" is done already, and --max-steps is ", " is done already, and max_steps is "},
    {"; to resume: rapt train --resume --out ", "; to resume: resume=True, out="},
    {"; to resume with that: rapt train --resume --out ", "; to resume with that: resume=True, out="},
    {"of an earlier run: --resume continues it", "of an earlier run: resume=True continues it"},
    {"its model is untrained (--max-steps 0), --resume to ", "its model is untrained (untrained=True), resume=True to "},
    {"a run stopped early, --resume to ", "a run stopped early, resume=True to "},
    {"; a run that began with --init is resumed with it", "; a run that began with init is resumed with it"},
    {": resume it with --init ", ": resume it with init="},
    {"undo the edit, or train into another folder with --init", "undo the edit, or train into another folder with init"},
    {"; if it is elsewhere now: --set ", "; if it is elsewhere now: set "},
    {"; --to gguf stores such models", "; to=\"gguf\" stores such models"},
    {"; `rapt info MODEL --tensors` lists the names", "; Model.parameters has the names"},
    {"; a model without one continues texts: `rapt generate`", "; a model without one continues texts: LanguageModel.generate"},
    {"; say where it is: MODEL --adapter ", "; say where it is: MODEL, adapter="},
};

/* The phrase that begins at a place of a message; or NULL. */
static const char *const *phrase_at(const char *text, const char *at)
{
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
        if ((*phrases[i][0] != '-' || at == text) && strncmp(at, phrases[i][0], strlen(phrases[i][0])) == 0)
            return phrases[i];
    return NULL;
}

PyObject *ext_message(const char *text)
{
    char out[2 * sizeof ((rapt_error *)0)->message];
    size_t size = 0;
    for (const char *at = text; *at;) {
        const char *const *phrase = phrase_at(text, at);
        const char *put = phrase ? phrase[1] : at;
        const size_t length = phrase ? strlen(put) : 1;
        if (size + length > sizeof out)
            break;
        memcpy(out + size, put, length);
        size += length;
        at += phrase ? strlen(phrase[0]) : 1;
    }
    return PyUnicode_DecodeUTF8(out, (Py_ssize_t)size, "replace");
}

PyObject *ext_raise(const ext_state *s, const rapt_error *err)
{
    PyObject *message = PyErr_Occurred() ? NULL : ext_message(err->message);
    if (message)
        PyErr_SetObject(s->errors[err->code], message);
    Py_XDECREF(message);
    return NULL;
}

/* Functions that read values have no state of the module at hand: the class is looked up, and NULL means that the module is being
 * taken down. */
PyObject *ext_invalid(const char *format, ...)
{
    PyObject *name = PyUnicode_FromString("rapt._rapt"), *module = name ? PyImport_GetModule(name) : NULL;
    PyObject *type = module ? PyObject_GetAttrString(module, "InvalidValueError") : NULL;
    if (!type)
        PyErr_Clear();
    va_list list;
    va_start(list, format);
    PyErr_FormatV(type ? type : PyExc_ValueError, format, list);
    va_end(list);
    Py_XDECREF(name);
    Py_XDECREF(module);
    Py_XDECREF(type);
    return NULL;
}

PyObject *ext_wrong_type(const char *name, const char *expected, PyObject *got)
{
    PyObject *type = PyType_GetName(Py_TYPE(got));
    if (type)
        PyErr_Format(PyExc_TypeError, "%s must be %s, not %U", name, expected, type);
    Py_XDECREF(type);
    return NULL;
}
