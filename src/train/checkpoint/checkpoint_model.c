/* train/checkpoint/checkpoint_model.c: the checkpoints of a run as models, to see what training changed: rapt_checkpoint_steps,
 * rapt_model_load_checkpoint. checkpoint.c resumes a run. */
#include "base/file.h"
#include "io/model_core.h"
#include "io/seal.h"
#include "rapt/train.h"
#include "train/checkpoint/averages.h"
#include "train/checkpoint/checkpoint_list.h"

#include <stdlib.h>
#include <string.h>

rapt_code rapt_checkpoint_steps(const char *folder, uint64_t **steps, size_t *count, rapt_error *err)
{
    checkpoint_list l;
    rapt_code code = checkpoint_list_read(folder, &l, err);
    *steps = NULL;
    *count = 0;
    if (!code && l.count > 0) {
        *steps = malloc(l.count * sizeof **steps);
        code = *steps ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for %zu checkpoints", folder, l.count);
    }
    if (*steps) {
        memcpy(*steps, l.steps, l.count * sizeof **steps);
        *count = l.count;
    }
    checkpoint_list_free(&l);
    return code;
}

/* Checkpoints have no buffers: they stay as in the folder's model. */
static rapt_code checkpoint_model_read(const safetensors *file, const char *path, const char *folder, rapt_model *m,
                                       rapt_error *err)
{
    uint64_t run;
    rapt_code code = seal_run(file, path, &run, err);
    if (!code && run && m->run && run != m->run)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: of another training run than %s", path, folder);
    for (size_t i = 0; !code && i < rapt_params_count(m->params); i++) {
        rapt_param *p = rapt_params_at(m->params, i);
        if (!p->buffer)
            code = averages_read_model(file, path, &p->value, err);
    }
    return code;
}

rapt_model *rapt_model_load_checkpoint(const char *folder, uint64_t step, rapt_error *err)
{
    safetensors *file = NULL;
    rapt_model *m = rapt_model_load(folder, NULL, err);
    if (!m)
        return NULL;
    char *path = checkpoint_path(folder, step);
    rapt_code code = path ? safetensors_open(path, &file, err) : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory", folder);
    if (!code && m->adapter)
        code = rapt_fail(err, RAPT_ERR_VALUE, "%s: checkpoints of adapters (LoRA) are not models; its folder is", folder);
    if (!code)
        code = checkpoint_model_read(file, path, folder, m, err);
    safetensors_close(file);
    free(path);
    if (!code)
        return m;
    rapt_model_free(m);
    return NULL;
}
