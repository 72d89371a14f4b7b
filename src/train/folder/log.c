/* train/folder/log.c: reports as JSON lines. For the training loop; plots and programs read them. */
#include "train/folder/log.h"

#include "base/file.h"
#include "text/json_text.h"
#include "train/folder/tensorboard.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)1 << 30)

/* One field of a line. */
typedef struct field {
    const char *key;
    double value;
    bool absent_as_nan; /* and then not written */
} field;

static rapt_code log_out_of_memory(const char *folder, rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for the log", folder);
}

static rapt_code add_fields(json_t *line, const field *fields, size_t count, const char *folder, rapt_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (fields[i].absent_as_nan && isnan(fields[i].value))
            continue;
        if (!isfinite(fields[i].value)) /* JSON has no NaN and no infinity */
            return rapt_fail(err, RAPT_ERR_NOT_FINITE, "%s: \"%s\" is %g, which the log can't hold", folder, fields[i].key,
                             fields[i].value);
        if (json_object_set_new(line, fields[i].key, json_real(fields[i].value)) != 0)
            return log_out_of_memory(folder, err);
    }
    return RAPT_OK;
}

/* How many pairs a pass has of each corpus. NULL: out of memory. */
static json_t *log_pass_pairs(const rapt_memory_plan *plan)
{
    json_t *list = json_array();
    bool kept = list != NULL;
    for (size_t i = 0; i < plan->corpus_count && kept; i++)
        kept = json_array_append_new(list, json_integer((json_int_t)plan->corpora[i].pass)) == 0;
    if (kept)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *log_to_json(const char *folder, const rapt_progress *p, const rapt_memory_plan *plan, bool partial,
                           rapt_error *err)
{
    const field fields[] = {{"loss", p->loss, false},
                            {"loss_book", p->loss_book, true},
                            {"val_loss", p->val_loss, true},
                            {"val_bleu", p->val_bleu, true},
                            {"val_chrf", p->val_chrf, true},
                            {"val_bleu_book", p->val_bleu_book, true},
                            {"reward_accuracy", p->rewards.accuracy, true},
                            {"reward_margin", p->rewards.chosen - p->rewards.rejected, true},
                            {"reward_chosen", p->rewards.chosen, true},
                            {"reward_rejected", p->rewards.rejected, true},
                            {"val_reward_accuracy", p->val_rewards.accuracy, true},
                            {"val_reward_margin", p->val_rewards.chosen - p->val_rewards.rejected, true},
                            {"val_reward_chosen", p->val_rewards.chosen, true},
                            {"val_reward_rejected", p->val_rewards.rejected, true},
                            {"lr", p->lr, false},
                            {"grad_norm", p->grad_norm, false},
                            {"epochs", p->epochs_done, false},
                            {"tokens_per_s", floor(p->tokens_per_s), false},
                            {"seconds", floor(p->seconds * 1e3) / 1e3, false},
                            {"waited", floor(p->waited * 1e3) / 1e3, true}};
    json_t *line = json_pack("{s:I, s:I}", "step", (json_int_t)p->step, "epoch", (json_int_t)p->epoch);
    rapt_code code = line ? add_fields(line, fields, sizeof fields / sizeof *fields, folder, err)
                          : log_out_of_memory(folder, err);
    if (!code && p->changed_after > 0 && p->step > p->changed_after &&
        json_object_set_new(line, "changed_after", json_integer((json_int_t)p->changed_after)) != 0)
        code = log_out_of_memory(folder, err);
    if (!code && plan->corpus_count > 1 && json_object_set_new(line, "pass_pairs", log_pass_pairs(plan)) != 0)
        code = log_out_of_memory(folder, err);
    if (!code && partial && json_object_set_new(line, "partial", json_true()) != 0)
        code = log_out_of_memory(folder, err);
    if (!code)
        return line;
    json_decref(line);
    return NULL;
}

static char *log_path(const char *folder, rapt_error *err)
{
    char *path = file_join(folder, "train.jsonl");
    if (!path)
        log_out_of_memory(folder, err);
    return path;
}

rapt_code log_append(const char *folder, const rapt_progress *p, const rapt_memory_plan *plan, bool partial, bool events,
                     rapt_error *err)
{
    json_t *line = log_to_json(folder, p, plan, partial, err);
    if (!line)
        return err->code;
    char *text = json_text(line, JSON_REAL_PRECISION(9)), *path = log_path(folder, err);
    size_t size = text ? strlen(text) : 0;
    char *ended = text ? realloc(text, size + 1) : NULL;
    json_decref(line);
    rapt_code code = RAPT_ERR_MEMORY;
    if (ended && path) {
        ended[size] = '\n';
        code = file_append(path, ended, size + 1, err);
        code = !code && events && !partial ? tensorboard_append(folder, ended, size, err) : code;
    } else
        log_out_of_memory(folder, err);
    free(ended ? ended : text);
    free(path);
    return code;
}

/* Reads the whole log; *text stays NULL if there is none. */
static rapt_code read_log(const char *path, char **text, size_t *size, rapt_error *err)
{
    bool there;
    *text = NULL;
    *size = 0;
    rapt_code code = file_is_there(path, &there, err);
    return !code && there ? file_read_regular(path, MAX_BYTES, text, size, err) : code;
}

rapt_code log_has_lines(const char *folder, bool *lines, rapt_error *err)
{
    size_t size;
    char *path = log_path(folder, err), *text = NULL;
    rapt_code code = path ? read_log(path, &text, &size, err) : RAPT_ERR_MEMORY;
    *lines = !code && size > 0;
    free(text);
    free(path);
    return code;
}

/* False on out-of-memory: a line that is not parsed for that reason must not be dropped. */
static bool stays(const char *line, size_t size, uint64_t step, bool *keep)
{
    json_error_t why;
    json_t *o = json_loadb(line, size, 0, &why);
    *keep = o && (uint64_t)json_integer_value(json_object_get(o, "step")) <= step &&
            !json_is_true(json_object_get(o, "partial"));
    json_decref(o);
    return o || why.text[0] != '\0'; /* empty: jansson is out of memory */
}

/* Moves the lines that stay to the front; *kept is their bytes. */
static bool filter(char *text, size_t size, uint64_t step, size_t *kept)
{
    *kept = 0;
    for (size_t at = 0, length; at < size; at += length) {
        bool keep = false;
        const char *end = memchr(text + at, '\n', size - at);
        length = end ? (size_t)(end - text) - at + 1 : size - at;
        if (end && !stays(text + at, length, step, &keep))
            return false;
        if (keep) {
            memmove(text + *kept, text + at, length);
            *kept += length;
        }
    }
    return true;
}

rapt_code log_rewind(const char *folder, uint64_t step, bool events, rapt_error *err)
{
    char *path = log_path(folder, err), *text = NULL;
    size_t size, kept = 0;
    rapt_code code = path ? read_log(path, &text, &size, err) : RAPT_ERR_MEMORY;
    if (!code && text)
        code = filter(text, size, step, &kept) ? file_write_atomic(path, text, kept, err) : log_out_of_memory(folder, err);
    if (!code && events)
        code = tensorboard_rewrite(folder, text, kept, err);
    free(text);
    free(path);
    return code;
}

/* If the number with this name in a line is better than *best, sets *best to it and returns the line's step; else returns 0. */
static uint64_t better_step(const char *line, size_t size, const char *name, bool low, double *best)
{
    json_t *o = json_loadb(line, size, 0, NULL), *number = json_object_get(o, name);
    const double x = json_number_value(number);
    bool better = json_is_number(number) && (low ? x < *best : x > *best) && !json_is_true(json_object_get(o, "partial"));
    uint64_t step = better ? (uint64_t)json_integer_value(json_object_get(o, "step")) : 0;
    if (better)
        *best = x;
    json_decref(o);
    return step;
}

uint64_t log_best_step(const char *folder, rapt_recipe_best_by by)
{
    static const char *const names[] = {[RAPT_RECIPE_BEST_BY_LOSS] = "val_loss", [RAPT_RECIPE_BEST_BY_BLEU] = "val_bleu",
                                        [RAPT_RECIPE_BEST_BY_CHRF] = "val_chrf"};
    const bool low = by == RAPT_RECIPE_BEST_BY_LOSS;
    char *path = log_path(folder, NULL), *text = NULL;
    size_t size = 0;
    uint64_t best_step = 0;
    double best = low ? INFINITY : -INFINITY;
    if (!path || file_read_regular(path, MAX_BYTES, &text, &size, NULL))
        size = 0;
    for (size_t at = 0, length; at < size; at += length + 1) {
        const char *end = memchr(text + at, '\n', size - at);
        length = end ? (size_t)(end - text) - at : size - at;
        uint64_t step = better_step(text + at, length, names[by], low, &best);
        best_step = step ? step : best_step;
    }
    free(text);
    free(path);
    return best_step;
}
