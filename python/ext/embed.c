/* embed.c: vectors of texts, by an encoder. */
#include <stddef.h>

#include "model.h"

#include "rapt/embed.h"

static const char *const POOLINGS[] = {"stored", "mean", "cls", "max", NULL};
static const option_row OPTIONS[] = {
    {"pooling", OPTION_NAME, offsetof(rapt_embedder_options, pooling), POOLINGS},
    {"normalize", OPTION_TRISTATE, offsetof(rapt_embedder_options, normalize)},
    {"dimensions", OPTION_SIZE, offsetof(rapt_embedder_options, dimensions)},
    {"prompt", OPTION_TEXT, offsetof(rapt_embedder_options, prompt)},
    {0}};

/* Within a call: batch by batch, so that Ctrl-C is heard between two. */
static rapt_code embed(rapt_embedder *e, const ext_texts *texts, float *vectors, ext_call *c, rapt_error *err)
{
    const size_t features = rapt_embedder_features(e);
    for (size_t i = 0; i < texts->count; i += RAPT_EMBED_BATCH) {
        const size_t left = texts->count - i, count = left < RAPT_EMBED_BATCH ? left : RAPT_EMBED_BATCH;
        if (ext_call_stop(c))
            return rapt_fail(err, RAPT_ERR_INTERRUPTED, "the embedding was cancelled");
        rapt_code code = rapt_embedder_run(e, texts->sized + i, count, vectors + i * features, NULL, err);
        if (code)
            return code;
    }
    return RAPT_OK;
}

/* embed(texts, options, should_stop): an array [texts, features] */
PyObject *model_embed(PyObject *self, PyObject *args)
{
    PyObject *list, *dict, *should_stop, *hold, *array = NULL;
    if (!PyArg_ParseTuple(args, "OO!O:embed", &list, &PyDict_Type, &dict, &should_stop) || !model_begin(self, &hold))
        return NULL;
    const ext_state *s = ext_state_of(self);
    ext_texts texts = {0};
    float *vectors;
    ext_call c;
    rapt_error err = {0};
    rapt_embedder_options o = rapt_embedder_options_default();
    o.compute = ((const model *)self)->compute;
    if (options_read(dict, OPTIONS, &o) < 0 || ext_sized_read(list, "text", &texts) < 0)
        goto end;
    ext_call_begin(&c, should_stop);
    rapt_embedder *e = rapt_embedder_new(((const model *)self)->model, &o, &err);
    ext_call_end(&c);
    array = e ? array_make(s, 2, (size_t[]){texts.count, rapt_embedder_features(e)}, &vectors) : ext_raise(s, &err);
    if (array) {
        ext_call_begin(&c, should_stop);
        rapt_code code = embed(e, &texts, vectors, &c, &err);
        ext_call_end(&c);
        if (code) {
            Py_CLEAR(array);
            ext_raise(s, &err);
        }
    }
    rapt_embedder_free(e);
end:
    ext_texts_free(&texts);
    model_end(self, hold);
    return array;
}
