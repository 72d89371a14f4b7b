/* data/windows.c: batches of windows of a token stream, at random places or one after the other. For training and evaluation of
 * language models. A batch is a function of its arguments; only memory is kept between calls. */
#include "data/tokens/token_file.h"

#include "base/arena.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

struct rapt_windows {
    const rapt_token_file *file;
    rapt_token_range range;
    size_t context, batch, windows; /* windows: one after the other, the last maybe shorter */
    uint64_t key;
    arena memory;
    int32_t *inputs, *labels, *valid_lens;
    uint32_t *examples;
    size_t *starts;
    rapt_window_batch current;
    bool drawn; /* current is the batch of step `step` */
    uint64_t step;
};

/* The message begins with the path if the file is on disk. */
static rapt_code windows_refuse(const rapt_token_file *f, rapt_code code, const char *reason, rapt_error *err)
{
    return rapt_fail(err, code, "%s%s%s", f->path ? f->path : "", f->path ? ": " : "", reason);
}

static rapt_code windows_check(const rapt_token_file *f, const rapt_token_range *range, size_t context, size_t batch,
                               rapt_error *err)
{
    rapt_error reason = {0};
    const char *name = range->name ? range->name : "range";
    size_t count = rapt_token_file_count(f);
    if (context == 0 || batch == 0)
        rapt_fail(&reason, RAPT_ERR_VALUE, "windows of %zu tokens, %zu at once, are none", context, batch);
    else if (context > INT32_MAX)
        rapt_fail(&reason, RAPT_ERR_VALUE, "a window of %zu tokens is too long", context);
    else if (range->begin > range->end || range->end > count)
        rapt_fail(&reason, RAPT_ERR_VALUE, "the %s is tokens %zu to %zu, but there are %zu", name, range->begin,
                  range->end, count);
    else if (range->end - range->begin <= context)
        rapt_fail(&reason, RAPT_ERR_VALUE, "the %s has %zu tokens; a window of %zu needs %zu", name, range->end - range->begin,
                  context, context + 1);
    return reason.code ? windows_refuse(f, reason.code, reason.message, err) : RAPT_OK;
}

static bool windows_allocate(rapt_windows *w)
{
    size_t tokens;
    arena_init(&w->memory, (size_t)4 << 10);
    if (__builtin_mul_overflow(w->batch, w->context, &tokens))
        return false;
    w->inputs = arena_array(&w->memory, tokens, sizeof *w->inputs);
    w->labels = arena_array(&w->memory, tokens, sizeof *w->labels);
    w->valid_lens = arena_array(&w->memory, w->batch, sizeof *w->valid_lens);
    w->examples = arena_array(&w->memory, w->batch, sizeof *w->examples);
    w->starts = arena_array(&w->memory, w->batch, sizeof *w->starts);
    return w->inputs && w->labels && w->valid_lens && w->examples && w->starts;
}

rapt_windows *rapt_windows_new(const rapt_token_file *f, const rapt_token_range *range, size_t context, size_t batch,
                               uint64_t seed, rapt_error *err)
{
    if (windows_check(f, range, context, batch, err) != RAPT_OK)
        return NULL;
    rapt_windows *w = calloc(1, sizeof *w);
    if (w) {
        *w = (rapt_windows){.file = f, .range = *range, .context = context, .batch = batch};
        w->windows = (range->end - range->begin - 2) / context + 1; /* labels / context, rounded up */
        w->key = rng_mix(seed, rng_hash_text("windows")); /* a separate random stream, because the model has the same seed */
    }
    if (w && windows_allocate(w))
        return w;
    windows_refuse(f, RAPT_ERR_MEMORY, "out of memory for a batch of windows", err);
    rapt_windows_free(w);
    return NULL;
}

void rapt_windows_free(rapt_windows *w)
{
    if (!w)
        return;
    arena_free(&w->memory);
    free(w);
}

/* A row of `length` tokens and labels from `start` on, filled up with zeros. */
static void windows_fill_row(rapt_windows *w, size_t row, size_t start, size_t length)
{
    int32_t *inputs = w->inputs + row * w->context, *labels = w->labels + row * w->context;
    size_t rest = (w->context - length) * sizeof *inputs;
    rapt_token_file_ids(w->file, start, length, inputs);
    rapt_token_file_ids(w->file, start + 1, length, labels);
    token_file_forget(w->file, start, length + 1);
    memset(inputs + length, 0, rest);
    memset(labels + length, 0, rest);
    w->starts[row] = start;
    w->valid_lens[row] = (int32_t)length;
    w->current.tokens += length;
}

static void begin_batch(rapt_windows *w, uint64_t index, size_t rows)
{
    w->drawn = false;
    w->current = (rapt_window_batch){{w->inputs, rows, w->context, NULL}, {w->labels, rows, w->context, NULL},
                                     w->valid_lens, w->examples, w->starts, 0};
    for (size_t row = 0; row < rows; row++)
        w->examples[row] = (uint32_t)(index * w->batch + row);
}

const rapt_window_batch *rapt_windows_random(rapt_windows *w, uint64_t step)
{
    uint64_t key = rng_mix(w->key, step), starts = w->range.end - w->range.begin - w->context;
    if (w->drawn && w->step == step) /* the passes of a step ask for the batch that they are parts of */
        return &w->current;
    begin_batch(w, step, w->batch);
    for (size_t row = 0; row < w->batch; row++)
        windows_fill_row(w, row, w->range.begin + (size_t)rng_below(key, row, starts), w->context);
    w->drawn = true;
    w->step = step;
    return &w->current;
}

size_t rapt_windows_batches(const rapt_windows *w)
{
    return (w->windows - 1) / w->batch + 1;
}

const rapt_window_batch *rapt_windows_at(rapt_windows *w, size_t index)
{
    if (index >= rapt_windows_batches(w))
        return NULL;
    size_t first = index * w->batch, left = w->windows - first, rows = left < w->batch ? left : w->batch;
    begin_batch(w, index, rows);
    for (size_t row = 0; row < rows; row++) {
        size_t start = w->range.begin + (first + row) * w->context, labels = w->range.end - 1 - start;
        windows_fill_row(w, row, start, labels < w->context ? labels : w->context);
    }
    return &w->current;
}
