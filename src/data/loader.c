/* data/loader.c: batches in an order that (seed, epoch) decides. For training and evaluation. Where rows are padded
 * to the longest, sentences of like length are put together within windows of many batches: little padding, and
 * still random batches. */
#include "data/dataset.h"

#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW_BATCHES 50

typedef struct sized {
    size_t length, place, example;
} sized;

struct rapt_loader {
    const rapt_dataset *data;
    size_t batch_size, batches;
    bool shuffle;
    uint64_t seed;
    size_t *order;       /* examples, in the order of the current epoch */
    size_t *batch_order; /* batches of the current epoch */
    size_t epoch;
    bool ordered;
    sized *window; /* for sorting: the whole data set at most */
    arena memory; /* of the current batch */
    rapt_batch batch;
};

rapt_loader *rapt_loader_new(const rapt_dataset *d, size_t batch_size, bool shuffle, uint64_t seed, rapt_error *err)
{
    rapt_loader *l = calloc(1, sizeof *l);
    if (l) {
        *l = (rapt_loader){.data = d, .batch_size = batch_size, .shuffle = shuffle, .seed = seed};
        l->batches = rapt_dataset_batches(d, batch_size);
        l->order = malloc(d->count * sizeof *l->order);
        l->batch_order = malloc(l->batches * sizeof *l->batch_order);
        l->window = malloc(d->count * sizeof *l->window);
        arena_init(&l->memory, (size_t)64 << 10);
    }
    if (l && l->order && l->batch_order && l->window)
        return l;
    rapt_fail(err, RAPT_NO_MEMORY, "no memory to order the data set");
    rapt_loader_free(l);
    return NULL;
}

void rapt_loader_free(rapt_loader *l)
{
    if (!l)
        return;
    free(l->order);
    free(l->batch_order);
    free(l->window);
    arena_free(&l->memory);
    free(l);
}

static int by_length(const void *a, const void *b)
{
    const sized *x = a, *y = b;
    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

static void sort_window(const rapt_loader *l, size_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const dataset_example *e = &l->data->examples[order[i]];
        l->window[i] = (sized){e->target_len + e->source_len, i, order[i]};
    }
    qsort(l->window, count, sizeof *l->window, by_length);
    for (size_t i = 0; i < count; i++)
        order[i] = l->window[i].example;
}

static void order_epoch(rapt_loader *l, size_t epoch)
{
    size_t n = l->data->count, window = WINDOW_BATCHES * l->batch_size;
    for (size_t i = 0; i < n; i++)
        l->order[i] = i;
    for (size_t i = 0; i < l->batches; i++)
        l->batch_order[i] = i;
    l->epoch = epoch;
    l->ordered = true;
    if (!l->shuffle)
        return;
    rng_shuffle(rng_mix(l->seed, 2 * epoch), l->order, n);
    if (l->data->options.pad_to_max)
        return;
    for (size_t i = 0; i < n; i += window)
        sort_window(l, l->order + i, n - i < window ? n - i : window);
    rng_shuffle(rng_mix(l->seed, 2 * epoch + 1), l->batch_order, l->batches);
}

static int32_t *new_ids(rapt_loader *l, size_t count, int32_t value)
{
    int32_t *ids = arena_array(&l->memory, count, sizeof *ids);
    for (size_t i = 0; ids && i < count; i++)
        ids[i] = value;
    return ids;
}

static size_t longest(const rapt_loader *l, const size_t *chosen, size_t n, bool target)
{
    size_t most = l->data->options.pad_to_max ? l->data->options.max_len : 1;
    for (size_t i = 0; i < n; i++) {
        const dataset_example *e = &l->data->examples[chosen[i]];
        size_t length = target ? e->target_len : e->source_len;
        most = length > most ? length : most;
    }
    return most;
}

static void fill_row(rapt_batch *b, size_t row, const dataset_example *e, int32_t *source, int32_t *inputs,
                     int32_t *labels)
{
    memcpy(source, e->source, e->source_len * sizeof *source);
    memcpy(labels, e->target, e->target_len * sizeof *labels);
    inputs[0] = RAPT_BOS;
    memcpy(inputs + 1, e->target, (e->target_len - 1) * sizeof *inputs);
    b->source_lens[row] = (int32_t)e->source_len;
    b->target_lens[row] = (int32_t)e->target_len;
    b->tokens += e->target_len;
}

static const rapt_batch *assemble(rapt_loader *l, const size_t *chosen, size_t n)
{
    arena_release(&l->memory, (arena_mark){0});
    size_t source_time = longest(l, chosen, n, false), target_time = longest(l, chosen, n, true);
    int32_t *source = new_ids(l, n * source_time, RAPT_PAD), *inputs = new_ids(l, n * target_time, RAPT_PAD);
    int32_t *labels = new_ids(l, n * target_time, RAPT_PAD);
    rapt_batch *b = &l->batch;
    *b = (rapt_batch){.source_lens = new_ids(l, n, 0), .target_lens = new_ids(l, n, 0),
                      .examples = (uint32_t *)new_ids(l, n, 0)};
    b->source = (rapt_tokens){source, n, source_time, b->source_lens};
    b->inputs = (rapt_tokens){inputs, n, target_time, b->target_lens};
    b->labels = (rapt_tokens){labels, n, target_time, b->target_lens};
    if (!source || !inputs || !labels || !b->source_lens || !b->target_lens || !b->examples)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        b->examples[i] = (uint32_t)chosen[i];
        fill_row(b, i, &l->data->examples[chosen[i]], source + i * source_time, inputs + i * target_time,
                 labels + i * target_time);
    }
    return b;
}

const rapt_batch *rapt_loader_batch(rapt_loader *l, size_t epoch, size_t index)
{
    if (!l->ordered || l->epoch != epoch)
        order_epoch(l, epoch);
    size_t first = l->batch_order[index] * l->batch_size, left = l->data->count - first;
    return assemble(l, l->order + first, left < l->batch_size ? left : l->batch_size);
}

const rapt_batch *rapt_loader_largest(rapt_loader *l)
{
    size_t n = l->data->count < l->batch_size ? l->data->count : l->batch_size;
    for (size_t i = 0; i < l->data->count; i++)
        l->order[i] = i;
    l->ordered = false;
    sort_window(l, l->order, l->data->count);
    return assemble(l, l->order + l->data->count - n, n);
}
