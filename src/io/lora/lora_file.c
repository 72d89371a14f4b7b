/* io/lora/lora_file.c: reads and writes adapter_model.safetensors. */
#include "io/lora/lora_file.h"

#include "io/adapter/adapter.h"
#include "io/lora/model_lora.h"
#include "io/model_core.h"
#include "io/params_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TENSOR_NAME = PLACE_NAME + 32 };

typedef struct lora_file {
    safetensors_entry *entries; /* A, B and magnitudes of each chosen module, and whole matrices */
    char (*names)[TENSOR_NAME];
    float **joined; /* [modules] B of a module that is not one layer's as it is, with its magnitudes behind it, or NULL */
    size_t count, modules;
} lora_file;

static void lora_file_end(lora_file *f)
{
    for (size_t i = 0; f->joined && i < f->modules; i++)
        free(f->joined[i]);
    free(f->joined);
    free(f->names);
    free(f->entries);
}

/* Puts the rows of a layer, `columns` wide, where PEFT has them in its module. */
static void lora_join_rows(const lora_module *m, size_t layer, size_t columns, const rapt_tensor *from, float *to)
{
    place_slice rows = m->rows[layer];
    rows.columns = columns;
    rows.transposed = rows.plus_one = false;
    place_slice_put(&rows, from->shape[0], from->data, columns, 0, m->out, to);
}

/* B [out, rank] of a module, then its magnitudes [out], if it has some. NULL: out of memory. */
static float *lora_join(const lora_module *m)
{
    const size_t rank = m->rank;
    float *joined = calloc(m->out * (rank + 1), sizeof *joined);
    for (size_t i = 0; joined && i < m->count; i++) {
        const rapt_lora *l = m->layers[i]->lora;
        lora_join_rows(m, i, rank, &l->b->value, joined);
        if (l->magnitude)
            lora_join_rows(m, i, 1, &l->magnitude->value, joined + m->out * rank);
    }
    return joined;
}

/* `which`: what follows the module's name, such as "lora_A.weight". `columns` 0: a vector. */
static void lora_file_add(lora_file *f, const char *module, const char *which, size_t rows, size_t columns, const void *data)
{
    char *name = f->names[f->count];
    snprintf(name, TENSOR_NAME, ADAPTER_PREFIX "%s.%s", module, which);
    f->entries[f->count++] = (safetensors_entry){.name = name, .dtype = SAFETENSORS_F32, .ndim = columns ? 2 : 1,
                                                 .shape = {rows, columns}, .data = data,
                                                 .bytes = rows * (columns ? columns : 1) * sizeof(float)};
}

/* The tensors of a module; `joined` unless it is one layer as it is. */
static void lora_file_add_module(lora_file *f, const lora_module *m, const float *joined)
{
    const rapt_lora *l = m->layers[0]->lora;
    lora_file_add(f, m->name, "lora_A.weight", m->rank, l->a->value.shape[1], l->a->value.data);
    lora_file_add(f, m->name, "lora_B.weight", m->out, m->rank, joined ? joined : l->b->value.data);
    if (l->magnitude)
        lora_file_add(f, m->name, "lora_magnitude_vector", m->out, 0,
                      joined ? joined + m->out * m->rank : l->magnitude->value.data);
}

/* False: out of memory. */
static bool lora_file_begin(lora_file *f, const rapt_model *m)
{
    const lora_setup *s = m->lora;
    const size_t modules = s->modules.count, most = 3 * modules + LORA_WHOLE_MAX;
    *f = (lora_file){calloc(most, sizeof *f->entries), calloc(most, sizeof *f->names),
                     calloc(modules + 1, sizeof *f->joined), 0, modules};
    bool ok = f->entries && f->names && f->joined;
    for (size_t i = 0; ok && i < modules; i++) {
        const lora_module *module = &s->modules.list[i];
        if (!module->chosen)
            continue;
        const bool whole = lora_module_is_whole(module);
        f->joined[i] = whole ? NULL : lora_join(module);
        ok = whole || f->joined[i];
        if (ok)
            lora_file_add_module(f, module, f->joined[i]);
    }
    for (size_t i = 0; ok && i < s->whole.count; i++) {
        const rapt_tensor *w = &s->whole.matrices[i]->value;
        lora_file_add(f, s->whole.names[i], "weight", w->shape[0], w->shape[1], w->data);
    }
    return ok;
}

rapt_code lora_file_save(const rapt_model *m, const char *path, const char *key, const char *text, rapt_error *err)
{
    lora_file f;
    rapt_code code = lora_file_begin(&f, m) ? params_write(path, f.entries, f.count, key, text, err)
                                            : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for saving", path);
    lora_file_end(&f);
    return code;
}

static bool lora_same_tensor(const safetensors_entry *e, const safetensors *file)
{
    const safetensors_entry *there = safetensors_find(file, e->name);
    return there && there->dtype == e->dtype && there->ndim == e->ndim && there->shape[0] == e->shape[0] &&
           there->shape[1] == e->shape[1] && memcmp(there->data, e->data, e->bytes) == 0;
}

bool lora_file_is_same(const rapt_model *m, const safetensors *file)
{
    lora_file f;
    bool same = lora_file_begin(&f, m) && safetensors_count(file) == f.count;
    for (size_t i = 0; same && i < f.count; i++)
        same = lora_same_tensor(&f.entries[i], file);
    lora_file_end(&f);
    return same;
}
