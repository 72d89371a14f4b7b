/* train/log.c: reports as JSON lines. For the training loop; plots and programs read them. */
#include "train/log.h"

#include "base/file.h"
#include "text/json_text.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)1 << 30)

static bool set(json_t *line, const char *key, double value)
{
    return json_object_set_new(line, key, json_real(value)) == 0;
}

static json_t *to_json(const rapt_progress *p, bool partial)
{
    json_t *line = json_pack("{s:I, s:I}", "step", (json_int_t)p->step, "epoch", (json_int_t)p->epoch);
    bool ok = line && set(line, "loss", p->loss);
    if (!isnan(p->loss_book))
        ok = ok && set(line, "loss_book", p->loss_book);
    if (!isnan(p->val_loss))
        ok = ok && set(line, "val_loss", p->val_loss);
    if (!isnan(p->val_bleu))
        ok = ok && set(line, "val_bleu", p->val_bleu);
    ok = ok && set(line, "lr", p->lr) && set(line, "grad_norm", p->grad_norm) &&
         set(line, "tokens_per_s", floor(p->tokens_per_s)) && set(line, "seconds", floor(p->seconds * 1e3) / 1e3);
    if (partial)
        ok = ok && json_object_set_new(line, "partial", json_true()) == 0;
    if (ok)
        return line;
    json_decref(line);
    return NULL;
}

static char *log_path(const char *folder, rapt_error *err)
{
    char *path = file_join(folder, "train.jsonl");
    if (!path)
        rapt_fail(err, RAPT_NO_MEMORY, "%s: no memory for the log", folder);
    return path;
}

rapt_code log_append(const char *folder, const rapt_progress *p, bool partial, rapt_error *err)
{
    json_t *line = to_json(p, partial);
    char *text = json_text(line, JSON_REAL_PRECISION(9)), *path = log_path(folder, err);
    size_t size = text ? strlen(text) : 0;
    char *ended = text ? realloc(text, size + 1) : NULL;
    json_decref(line);
    rapt_code code = RAPT_NO_MEMORY;
    if (ended && path) {
        ended[size] = '\n';
        code = file_append(path, ended, size + 1, err);
    } else
        rapt_fail(err, RAPT_NO_MEMORY, "%s: no memory for the log", folder);
    free(ended ? ended : text);
    free(path);
    return code;
}

static bool stays(const char *line, size_t size, uint64_t step)
{
    json_t *o = json_loadb(line, size, 0, NULL);
    bool keep = o && (uint64_t)json_integer_value(json_object_get(o, "step")) <= step &&
                !json_is_true(json_object_get(o, "partial"));
    json_decref(o);
    return keep;
}

/* Moves the lines that stay to the front; returns their bytes. */
static size_t filter(char *text, size_t size, uint64_t step)
{
    size_t kept = 0;
    for (size_t at = 0, length; at < size; at += length) {
        const char *end = memchr(text + at, '\n', size - at);
        length = end ? (size_t)(end - text) - at + 1 : size - at;
        if (end && stays(text + at, length, step)) {
            memmove(text + kept, text + at, length);
            kept += length;
        }
    }
    return kept;
}

rapt_code log_rewind(const char *folder, uint64_t step, rapt_error *err)
{
    char *path = log_path(folder, err), *text = NULL;
    size_t size;
    rapt_code code = path ? RAPT_OK : RAPT_NO_MEMORY;
    if (path && file_exists(path)) {
        code = file_read(path, MAX_BYTES, &text, &size, err);
        if (!code)
            code = file_write_atomic(path, text, filter(text, size, step), err);
    }
    free(text);
    free(path);
    return code;
}

/* The step of a line, where its validation loss is below *best, which it becomes; else 0. */
static uint64_t better_step(const char *line, size_t size, double *best)
{
    json_t *o = json_loadb(line, size, 0, NULL), *loss = json_object_get(o, "val_loss");
    bool better = json_is_number(loss) && json_number_value(loss) < *best && !json_is_true(json_object_get(o, "partial"));
    uint64_t step = better ? (uint64_t)json_integer_value(json_object_get(o, "step")) : 0;
    if (better)
        *best = json_number_value(loss);
    json_decref(o);
    return step;
}

uint64_t log_best_step(const char *folder)
{
    char *path = log_path(folder, NULL), *text = NULL;
    size_t size = 0;
    uint64_t best_step = 0;
    double best = INFINITY;
    if (!path || file_read(path, MAX_BYTES, &text, &size, NULL))
        size = 0;
    for (size_t at = 0, length; at < size; at += length + 1) {
        const char *end = memchr(text + at, '\n', size - at);
        length = end ? (size_t)(end - text) - at : size - at;
        uint64_t step = better_step(text + at, length, &best);
        best_step = step ? step : best_step;
    }
    free(text);
    free(path);
    return best_step;
}
