/* io/model_config.c: config.json: the members that all tasks have (format, version, task, training run), and the table of the
 * tasks, which add theirs. For model.c and seal.c. */
#include "io/model.h"

#include "base/rows.h"
#include "io/hub/hub_origin.h"
#include "io/lora/model_lora.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const model_task *const TASKS[] = {[RAPT_TASK_TRANSLATION] = &model_translation,
                                          [RAPT_TASK_LANGUAGE_MODEL] = &model_language_model,
                                          [RAPT_TASK_ENCODER] = &model_encoder,
                                          [RAPT_TASK_CROSS_ENCODER] = &model_cross_encoder};
ROWS_FIT(TASKS, RAPT_TASKS, 1); /* RAPT_TASK_ANY */

typedef struct header {
    size_t version;
    int format;
    rapt_task task;
    char run[CONFIG_HASH_TEXT]; /* "" if the file has none */
} header;

static const char *const FORMATS[] = {"rapt-model", NULL};
/* Encoders are of other programs. */
static const char *const TASK_NAMES[] = {[RAPT_TASK_TRANSLATION] = "translation", [RAPT_TASK_LANGUAGE_MODEL] = "language_model",
                                         NULL};
ROWS_FIT(TASK_NAMES, RAPT_TASKS, 2); /* neither the two kinds of encoders nor RAPT_TASK_ANY, but NULL */

/* In the order of the file. */
enum { TASK_MEMBER = 2, HEADER_MEMBERS = 4 };
static const config_member HEADER[HEADER_MEMBERS] = {
    CONFIG_WORD_ROW("format", header, format, FORMATS),
    CONFIG_SIZE_ROW("version", header, version, CONFIG_MAX_SIZE),
    CONFIG_WORD_ROW("task", header, task, TASK_NAMES),
    CONFIG_OPTIONAL_HASH_ROW(MODEL_RUN, header, run),
};

const model_task *model_task_of(rapt_task task)
{
    return TASKS[task];
}

rapt_code model_describe(const rapt_model *m, json_t *root, const char *path, rapt_error *err)
{
    if (m->lora)
        return lora_describe(m, root, path, err);
    if (m->family)
        return hub_origin_describe(m, root, path, err);
    header h = {.version = 1, .task = m->task}; /* a task's own members can raise it */
    if (m->run)
        snprintf(h.run, sizeof h.run, "%016" PRIx64, m->run);
    rapt_code code = config_write(root, HEADER, HEADER_MEMBERS, &h, path, err);
    return code ? code : TASKS[m->task]->describe(m, root, path, err);
}

/* The version is checked before the task: a newer version may have other tasks. */
rapt_code model_read_header(const json_t *root, const char *path, rapt_task *task, uint64_t *run, rapt_error *err)
{
    header h = {0};
    rapt_code code = config_read(root, HEADER, TASK_MEMBER, &h, path, err);
    if (!code && h.version > RAPT_FORMAT_VERSION)
        code = rapt_fail(err, RAPT_ERR_FORMAT, "%s: format version %zu; this rapt reads up to %d", path, h.version,
                         RAPT_FORMAT_VERSION);
    if (!code)
        code = config_read(root, HEADER + TASK_MEMBER, HEADER_MEMBERS - TASK_MEMBER, &h, path, err);
    *task = h.task;
    *run = strtoull(h.run, NULL, 16);
    return code;
}
