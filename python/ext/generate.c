/* generate.c: texts of a language model, and the tokens that are probable next. stream.c hands them out token by token. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "generate.h"

const option_row sample_option_rows[] = {
    {"temperature", OPTION_DOUBLE, offsetof(rapt_sample_options, temperature)},
    {"greedy", OPTION_BOOL, offsetof(rapt_sample_options, greedy)},
    {"top_k", OPTION_SIZE, offsetof(rapt_sample_options, top_k)},
    {"top_p", OPTION_DOUBLE, offsetof(rapt_sample_options, top_p)},
    {"min_p", OPTION_DOUBLE, offsetof(rapt_sample_options, min_p)},
    {"typical_p", OPTION_DOUBLE, offsetof(rapt_sample_options, typical_p)},
    {"repetition_penalty", OPTION_DOUBLE, offsetof(rapt_sample_options, repetition_penalty)},
    {"repetition_window", OPTION_SIZE, offsetof(rapt_sample_options, repetition_window)},
    {"presence_penalty", OPTION_DOUBLE, offsetof(rapt_sample_options, presence_penalty)},
    {"frequency_penalty", OPTION_DOUBLE, offsetof(rapt_sample_options, frequency_penalty)},
    {"seed", OPTION_SEED, offsetof(rapt_sample_options, seed)},
    {0}};

static const option_row OPTIONS[] = {
    {"max_tokens", OPTION_SIZE, offsetof(text_request, o.max_tokens)},
    {"sample", OPTION_ROWS, offsetof(text_request, o.sample), .rows = sample_option_rows},
    {"beam", OPTION_SIZE, offsetof(text_request, o.beam)},
    {"top_log_probs", OPTION_SIZE, offsetof(text_request, o.top)},
    {"lookup", OPTION_SIZE, offsetof(text_request, o.lookup)},
    {"chat", OPTION_BOOL, offsetof(text_request, o.chat)},
    {"json_schema", OPTION_TEXT, offsetof(text_request, json_schema)},
    {0}};

/* ---- requests ------------------------------------------------------------------------------------------------ */

/* A tuple of (id, bias). */
static int read_biases(PyObject *tuple, text_request *r)
{
    Py_ssize_t count = PyTuple_Size(tuple);
    if (!(r->biases = PyMem_Calloc((size_t)count + 1, sizeof *r->biases))) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *id, *bias, *pair = PyTuple_GetItem(tuple, i);
        if (!PyTuple_Check(pair)) {
            ext_wrong_type("an item of logit_bias", "a tuple of an id and a number", pair);
            return -1;
        }
        if (!PyArg_ParseTuple(pair, "OO;an item of logit_bias must be an id and a number", &id, &bias) ||
            ext_id_read(id, "an id of logit_bias", &r->biases[i].id) < 0)
            return -1;
        if (ext_double_read(bias, "a value of logit_bias", &r->biases[i].bias) < 0)
            return -1;
    }
    r->o.sample.biases = r->biases;
    r->o.sample.bias_count = (size_t)count;
    return 0;
}

static int read_prompt(PyObject *prompt, text_request *r)
{
    if (PyUnicode_Check(prompt))
        return ext_bytes_read(prompt, "prompt", true, &r->text);
    if (PyIter_Check(prompt) || (PyNumber_Check(prompt) && !PySequence_Check(prompt)) || prompt == Py_None) {
        ext_wrong_type("prompt", "a str or a sequence of int", prompt);
        return -1;
    }
    return ext_ids_read(prompt, "prompt", &r->ids);
}

int text_request_read(const model *m, PyObject *prompt, PyObject *options, PyObject *stops, PyObject *biases, PyObject *logits,
                      text_request *r)
{
    if (logits != Py_None && !PyCallable_Check(logits)) {
        ext_wrong_type("logits", "a callable", logits);
        return -1;
    }
    r->logits = logits == Py_None ? NULL : logits;
    r->o = rapt_generate_options_default();
    if (m)
        r->o.compute = m->compute;
    if (read_prompt(prompt, r) < 0 || options_read(options, OPTIONS, r) < 0 || ext_texts_read(stops, "stop", &r->stops) < 0 ||
        read_biases(biases, r) < 0)
        return -1;
    r->o.stops = r->stops.texts;
    r->o.stop_count = r->stops.count;
    return (r->key = PyTuple_Pack(4, options, stops, biases, r->logits ? Py_True : Py_False)) ? 0 : -1;
}

rapt_code text_request_constrain(text_request *r, rapt_error *err)
{
    if (!r->json_schema || r->constraint)
        return RAPT_OK;
    r->constraint = rapt_constraint_json_schema(r->json_schema, strlen(r->json_schema), err);
    r->o.constraint = r->constraint;
    return r->constraint ? RAPT_OK : err->code;
}

void text_request_free(text_request *r)
{
    rapt_constraint_free(r->constraint);
    ext_texts_free(&r->stops);
    ext_bytes_free(&r->text);
    ext_ids_free(&r->ids);
    PyMem_Free(r->biases);
    Py_XDECREF(r->key);
}

/* ---- generators ---------------------------------------------------------------------------------------------- */

void generation_free(generation *n)
{
    if (!n)
        return;
    rapt_generator_free(n->g);
    Py_XDECREF(n->key);
    Py_XDECREF(n->logits);
    free(n);
}

static generation *generation_waiting(model *m, const text_request *r)
{
    generation *n = m->idle;
    PyObject *key = n ? Py_NewRef(n->key) : NULL; // while it is compared, another call may free n
    int same = n ? PyObject_RichCompareBool(key, r->key, Py_EQ) : 0;
    Py_XDECREF(key);
    if (same < 0)
        PyErr_Clear();
    if (same != 1 || m->idle != n) // a comparison may run other code
        return NULL;
    m->idle = NULL;
    return n;
}

generation *generation_take(const ext_state *s, model *m, const text_request *r)
{
    generation *n = generation_waiting(m, r);
    if (!n && (n = calloc(1, sizeof *n)))
        n->key = Py_NewRef(r->key);
    if (!n) {
        PyErr_NoMemory();
        return NULL;
    }
    n->state = s;
    n->logits = Py_XNewRef(r->logits);
    return n;
}

void generation_put(model *m, generation *n)
{
    Py_CLEAR(n->logits);
    if (!m->trainable && !m->idle && n->g && m->owner) { // it has packed the parameters
        m->idle = n;
        return;
    }
    generation_free(n);
}

static bool generation_stops(void *context)
{
    return ext_call_stop(((generation *)context)->call);
}

/* A rapt_logits_fn. Python gets a copy, which it may keep: what it writes later has no effect. */
static rapt_code generation_changes_logits(void *context, size_t step, rapt_real *logits, size_t vocab, rapt_error *err)
{
    generation *n = context;
    float *values;
    ext_callback_begin(n->call);
    PyObject *callable = Py_NewRef(n->logits), *array = array_make(n->state, 1, &vocab, &values), *answer = NULL;
    if (array) {
        memcpy(values, logits, vocab * sizeof *values);
        answer = PyObject_CallFunction(callable, "nO", (Py_ssize_t)step, array);
        memcpy(logits, values, vocab * sizeof *values);
    }
    const bool is_none = answer == Py_None;
    if (answer && !is_none)
        ext_wrong_type("what logits returns", "None (it writes its array)", answer);
    Py_XDECREF(answer);
    Py_XDECREF(array);
    Py_DECREF(callable);
    return ext_callback_end(n->call, !is_none, err);
}

rapt_code generation_begin(generation *n, const model *m, text_request *r, ext_call *c, rapt_error *err)
{
    n->call = c;
    if (!n->g) {
        if (text_request_constrain(r, err))
            return err->code;
        rapt_generate_options o = r->o;
        o.stop = generation_stops;
        o.on_logits = r->logits ? generation_changes_logits : NULL;
        o.context = n;
        if (!(n->g = rapt_generator_new(m->model, &o, err)))
            return err->code;
    }
    return r->text.data ? rapt_generator_begin(n->g, r->text.data, r->text.size, err)
                        : rapt_generator_begin_tokens(n->g, r->ids.ids, r->ids.count, err);
}

PyObject *completion_tuple(const rapt_generated *r)
{
    static const char *const ends[] = {[RAPT_FINISH_NONE] = "interrupted", [RAPT_FINISH_LENGTH] = "length",
                                       [RAPT_FINISH_STOP] = "stop", [RAPT_FINISH_END_OF_TEXT] = "end_of_text"};
    const bool searched = r->token_count > 0 && isnan(r->log_probs[0]);
    PyObject *text = PyUnicode_DecodeUTF8(r->text ? r->text : "", (Py_ssize_t)r->text_size, "replace");
    PyObject *ids = ext_ids_list(r->tokens, r->token_count);
    PyObject *log_probs = searched ? Py_NewRef(Py_None) : ext_doubles_list(r->log_probs, r->token_count);
    PyObject *tuple = NULL;
    if (text && ids && log_probs)
        tuple = Py_BuildValue("(OOOnsd)", text, ids, log_probs, (Py_ssize_t)r->prompt_tokens, ends[r->finish], r->score);
    Py_XDECREF(text);
    Py_XDECREF(ids);
    Py_XDECREF(log_probs);
    return tuple;
}

PyObject *completion_of(rapt_generated *r)
{
    PyObject *tuple = completion_tuple(r);
    rapt_generated_free(r);
    return tuple;
}

/* ---- methods ------------------------------------------------------------------------------------------------- */

/* generate(prompt, options, stops, biases, logits or None, sample, should_stop): a tuple, see completion_of. */
PyObject *model_generate(PyObject *self, PyObject *args)
{
    PyObject *prompt, *options, *stops, *biases, *logits, *should_stop, *hold, *tuple = NULL;
    text_request r = {0};
    if (!PyArg_ParseTuple(args, "OO!O!O!OKO:generate", &prompt, &PyDict_Type, &options, &PyTuple_Type, &stops, &PyTuple_Type,
                          &biases, &logits, &r.sample, &should_stop))
        return NULL;
    model *m = (model *)self;
    if (!model_begin(self, &hold))
        return NULL;
    generation *n = text_request_read(m, prompt, options, stops, biases, logits, &r) == 0
                        ? generation_take(ext_state_of(self), m, &r) : NULL;
    if (n) {
        rapt_generated result = {0};
        ext_call c;
        rapt_error err = {0};
        ext_call_begin(&c, should_stop);
        rapt_code code = generation_begin(n, m, &r, &c, &err);
        code = code ? code : rapt_generator_run(n->g, r.sample, &result, &err);
        ext_call_end(&c);
        generation_put(m, n);
        if (code)
            rapt_generated_free(&result);
        tuple = code ? ext_raise(ext_state_of(self), &err) : completion_of(&result);
    }
    text_request_free(&r);
    model_end(self, hold);
    return tuple;
}

/* Within a call. *count becomes the number of tokens that there are. */
static rapt_code likeliest(generation *n, const model *m, text_request *r, ext_call *c, size_t *count, int32_t **ids,
                           double **probabilities, rapt_error *err)
{
    rapt_code code = generation_begin(n, m, r, c, err);
    if (code)
        return code;
    const size_t vocab = rapt_model_language(m->model)->net->config.vocab;
    *count = *count < vocab ? *count : vocab;
    *ids = malloc((*count + 1) * sizeof **ids);
    *probabilities = malloc((*count + 1) * sizeof **probabilities);
    if (!*ids || !*probabilities)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu tokens", *count);
    return rapt_generator_likeliest(n->g, *count, *ids, *probabilities, err);
}

/* next_token(prompt, count): (ids, probabilities) */
PyObject *model_next_token(PyObject *self, PyObject *args)
{
    PyObject *prompt, *hold, *tuple = NULL, *options = PyDict_New(), *none = PyTuple_New(0);
    Py_ssize_t asked;
    text_request r = {0};
    model *m = (model *)self;
    if (!options || !none || !PyArg_ParseTuple(args, "On:next_token", &prompt, &asked) || !model_begin(self, &hold))
        goto end;
    generation *n = text_request_read(m, prompt, options, none, none, Py_None, &r) == 0
                        ? generation_take(ext_state_of(self), m, &r) : NULL;
    if (n) {
        int32_t *ids = NULL;
        double *probabilities = NULL;
        size_t count = (size_t)asked;
        ext_call c;
        rapt_error err = {0};
        ext_call_begin(&c, Py_None);
        rapt_code code = likeliest(n, m, &r, &c, &count, &ids, &probabilities, &err);
        ext_call_end(&c);
        generation_put(m, n);
        tuple = code ? ext_raise(ext_state_of(self), &err)
                     : Py_BuildValue("(NN)", ext_ids_list(ids, count), ext_doubles_list(probabilities, count));
        free(ids);
        free(probabilities);
    }
    text_request_free(&r);
    model_end(self, hold);
end:
    Py_XDECREF(options);
    Py_XDECREF(none);
    return tuple;
}
