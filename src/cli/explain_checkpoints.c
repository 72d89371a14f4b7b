/* cli/explain_checkpoints.c: one model is in memory at a time. */
#include "cli/explain_checkpoints.h"

#include "base/file.h"
#include "rapt/train.h"

#include <stdlib.h>

/* Takes the model. */
static rapt_code explain_checkpoint(rapt_model *m, uint64_t step, const rapt_explanation *like, int threads,
                                    explain_checkpoints *all, rapt_error *err)
{
    static const char *const names[] = {"*.weights"};
    rapt_explain_options o = {.names = names, .name_count = 1, .like = like, .threads = threads};
    rapt_explanation *e = m ? rapt_explanation_new(m, NULL, &o, err) : NULL;
    rapt_model_free(m);
    if (!e)
        return err->code;
    all->list[all->count++] = (rapt_explained_checkpoint){.step = step, .explanation = e};
    return RAPT_OK;
}

static rapt_code find_untrained(const char *folder, char **path, bool *there, rapt_error *err)
{
    rapt_code code = file_path(folder, "untrained", path, err);
    return code ? code : file_is_there(*path, there, err);
}

rapt_code explain_checkpoints_read(const char *folder, const rapt_explanation *like, int threads, explain_checkpoints *all,
                                   rapt_error *err)
{
    uint64_t *steps = NULL;
    size_t count = 0;
    char *untrained = NULL;
    bool there = false;
    *all = (explain_checkpoints){0};
    rapt_code code = find_untrained(folder, &untrained, &there, err);
    code = code ? code : rapt_checkpoint_steps(folder, &steps, &count, err);
    if (!code && !there && count == 0)
        code = rapt_fail(err, RAPT_ERR_NOT_FOUND, "%s holds no checkpoints: --checkpoints needs the folder of a training run",
                         folder);
    all->list = code ? NULL : calloc(count + 1, sizeof *all->list);
    if (!code && !all->list)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu checkpoints", count);
    if (!code && there)
        code = explain_checkpoint(rapt_model_load(untrained, NULL, err), 0, like, threads, all, err);
    for (size_t i = 0; i < count && !code; i++)
        code = explain_checkpoint(rapt_model_load_checkpoint(folder, steps[i], err), steps[i], like, threads, all, err);
    free(untrained);
    free(steps);
    return code;
}

void explain_checkpoints_free(explain_checkpoints *all)
{
    for (size_t i = 0; i < all->count; i++)
        rapt_explanation_free((rapt_explanation *)all->list[i].explanation);
    free(all->list);
}
