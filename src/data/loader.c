/* data/loader.c: batches in an order that (seed, epoch) decides. For training and evaluation. Batches of N sentences: rows are
 * padded to the longest, and sentences of similar length are grouped within windows of many batches, so that there is little
 * padding and batches are still random. Batches of N tokens: the whole epoch is sorted by length and then divided. Packed
 * batches: the shuffled epoch is cut into batches of nearly the same number of tokens. */
#include "data/dataset.h"

#include "base/rng.h"
#include "base/sized.h"
#include "data/data_defaults.h"

#include <stdlib.h>
#include <string.h>

#define NO_EPOCH SIZE_MAX /* of a batch to plan memory: as long as BPE dropout could make it */
#define WINDOW_BATCHES 50

typedef struct sized {
    size_t length, place, entry;
} sized;

struct rapt_loader {
    const rapt_dataset *data;
    size_t batch_size; /* 0: by tokens */
    bool packed;
    size_t batches, *starts; /* [batches + 1] places in the order of an epoch */
    bool shuffle;
    uint64_t seed;
    size_t entries;      /* of an epoch */
    size_t *entry;       /* [entries] examples, if corpora have weights; NULL: entry i is example i */
    size_t *order;       /* entries, in the order of the current epoch */
    size_t *batch_order; /* batches of the current epoch */
    size_t epoch;
    bool ordered;
    sized *window; /* for sorting: a whole epoch at most */
    corpus_ranked *ranked; /* for drawing, if corpora have weights */
    arena memory; /* holds the current batch */
    size_t kept;  /* 1 + the index of the current batch in the current epoch; 0: it is none of the epoch's */
    rapt_batch batch;
};

/* The entries of an epoch: examples, each as often as its weight says. */
static size_t loader_entries(const rapt_dataset *d)
{
    return d->pass.shares ? d->pass.entries : d->count;
}

/* With the capacity for `batches` batches. */
static rapt_loader *loader_new(const rapt_dataset *d, size_t batches, bool shuffle, uint64_t seed, rapt_error *err)
{
    const bool weighted = d->pass.shares != NULL;
    rapt_loader *l = calloc(1, sizeof *l);
    if (l) {
        *l = (rapt_loader){.data = d, .shuffle = shuffle, .seed = seed, .entries = loader_entries(d)};
        l->entry = weighted ? malloc(l->entries * sizeof *l->entry) : NULL;
        l->ranked = weighted ? malloc(d->count * sizeof *l->ranked) : NULL;
        l->order = malloc(l->entries * sizeof *l->order);
        l->starts = malloc((batches + 1) * sizeof *l->starts);
        l->batch_order = malloc(batches * sizeof *l->batch_order);
        l->window = malloc(l->entries * sizeof *l->window);
        arena_init(&l->memory, (size_t)64 << 10);
    }
    if (l && (!weighted || (l->entry && l->ranked)) && l->order && l->starts && l->batch_order && l->window)
        return l;
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to order the data set");
    rapt_loader_free(l);
    return NULL;
}

static rapt_loader *loader_by_sentences(const rapt_dataset *d, size_t batch_size, bool shuffle, uint64_t seed, rapt_error *err)
{
    const size_t entries = loader_entries(d);
    batch_size = batch_size < entries ? batch_size : entries;
    size_t batches = (entries + batch_size - 1) / batch_size;
    rapt_loader *l = loader_new(d, batches, shuffle, seed, err);
    if (!l)
        return NULL;
    l->batch_size = batch_size;
    l->batches = batches;
    for (size_t i = 0; i <= batches; i++)
        l->starts[i] = i < batches ? i * batch_size : entries;
    return l;
}

void rapt_loader_free(rapt_loader *l)
{
    if (!l)
        return;
    free(l->entry);
    free(l->ranked);
    free(l->order);
    free(l->starts);
    free(l->batch_order);
    free(l->window);
    arena_free(&l->memory);
    free(l);
}

static int loader_by_length(const void *a, const void *b)
{
    const sized *x = a, *y = b;
    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

static size_t loader_example(const rapt_loader *l, size_t entry)
{
    return l->entry ? l->entry[entry] : entry;
}

/* The length of a sentence in batches by tokens: each epoch then has the same sequence of lengths, and is divided at the same
 * places. If corpora have weights, no epoch has a longer one at a place than the epoch that draws the longest examples, by which
 * the places are chosen. */
static size_t loader_length_of(const rapt_loader *l, size_t example)
{
    const dataset_example *e = &l->data->examples[example];
    size_t longer = e->source_len > e->target_len ? e->source_len : e->target_len;
    return l->batch_size ? dataset_tokens_of(l->data, example) + e->source_len : longer;
}

static void sort_window(const rapt_loader *l, size_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++)
        l->window[i] = (sized){loader_length_of(l, loader_example(l, order[i])), i, order[i]};
    qsort(l->window, count, sizeof *l->window, loader_by_length);
    for (size_t i = 0; i < count; i++)
        order[i] = l->window[i].entry;
}

/* Cuts the order of an epoch where the sum of tokens passes a multiple of sum / batches. No batch is empty, because that is not
 * less than the longest example has. */
static void cut_packed(rapt_loader *l)
{
    const size_t whole = dataset_target_tokens(l->data) / l->batches, rest = dataset_target_tokens(l->data) % l->batches;
    size_t batch = 0, before = 0;
    for (size_t i = 0; i < l->entries; i++) {
        if (batch < l->batches && before >= whole * batch + (size_t)((uint64_t)rest * batch / l->batches))
            l->starts[batch++] = i;
        before += dataset_tokens_of(l->data, loader_example(l, l->order[i]));
    }
    l->starts[l->batches] = l->entries;
}

static void shuffle_epoch(rapt_loader *l, size_t epoch)
{
    size_t n = l->entries, window = l->batch_size ? WINDOW_BATCHES * l->batch_size : n;
    rng_shuffle(rng_mix(l->seed, 2 * epoch), l->order, n);
    if (l->packed || (l->data->options.pad_to_max && l->batch_size))
        return;
    for (size_t i = 0; i < n; i += window)
        sort_window(l, l->order + i, n - i < window ? n - i : window);
    rng_shuffle(rng_mix(l->seed, 2 * epoch + 1), l->batch_order, l->batches);
}

/* What an epoch draws, as (seed, epoch, pair) decide. */
typedef struct drawing {
    const rapt_loader *l;
    uint64_t key;
} drawing;

static uint64_t loader_draw(void *context, size_t example)
{
    const drawing *d = context;
    return (uint64_t)(rng_uniform(d->key, d->l->data->examples[example].pair) * 9007199254740992.0); /* 2^53: all its bits */
}

static uint64_t loader_longest_first(void *context, size_t example)
{
    return UINT64_MAX - loader_length_of(context, example);
}

/* The entries of an epoch, in the order of the data. NO_EPOCH: the longest examples are drawn. */
static void list_epoch(rapt_loader *l, size_t epoch)
{
    drawing d = {l, rng_mix(rng_mix(l->seed, rng_hash_text("weights of corpora")), epoch)};
    if (l->entry && epoch == NO_EPOCH)
        corpus_pass_list(&l->data->pass, loader_longest_first, l, l->ranked, l->entry);
    else if (l->entry)
        corpus_pass_list(&l->data->pass, loader_draw, &d, l->ranked, l->entry);
    for (size_t i = 0; i < l->entries; i++)
        l->order[i] = i;
}

static void order_epoch(rapt_loader *l, size_t epoch)
{
    list_epoch(l, epoch);
    l->kept = 0;
    for (size_t i = 0; i < l->batches; i++)
        l->batch_order[i] = i;
    l->epoch = epoch;
    l->ordered = true;
    if (l->shuffle)
        shuffle_epoch(l, epoch);
    if (l->packed)
        cut_packed(l);
}

/* Cuts the sorted lengths in l->window. */
static void cut_by_tokens(rapt_loader *l, size_t max_tokens)
{
    for (size_t i = 0, start = 0; i <= l->entries; i++)
        if (i == l->entries || i == 0 || (i - start + 1) * l->window[i].length > max_tokens) {
            l->starts[i == 0 ? 0 : ++l->batches] = i;
            start = i;
        }
}

static rapt_loader *loader_by_tokens(const rapt_dataset *d, size_t max_tokens, uint64_t seed, rapt_error *err)
{
    rapt_loader *l = loader_new(d, loader_entries(d), true, seed, err);
    if (l) {
        list_epoch(l, NO_EPOCH);
        sort_window(l, l->order, l->entries);
        cut_by_tokens(l, max_tokens);
    }
    return l;
}

static rapt_loader *loader_packed(const rapt_dataset *d, size_t tokens, bool shuffle, uint64_t seed, rapt_error *err)
{
    const size_t batches = dataset_packed_batches(d, tokens);
    rapt_loader *l = loader_new(d, batches, shuffle, seed, err);
    if (l) {
        l->packed = true;
        l->batches = batches;
    }
    return l;
}

SIZED_ENDS_WITH(rapt_loader_options, reserved);

void rapt_loader_options_init(rapt_loader_options *o, size_t size)
{
    sized_init(o, size, &(rapt_loader_options){LOADER_DEFAULTS}, sizeof *o);
}

static rapt_code loader_take_options(const rapt_loader_options *given, rapt_loader_options *out, rapt_error *err)
{
    *out = (rapt_loader_options){LOADER_DEFAULTS};
    const rapt_code code = sized_take(out, given, out->reserved, sizeof out->reserved, "loader_options", err);
    if (code)
        return code;
    if (SIZED_AS_MODEL(out->batch_size) || SIZED_AS_MODEL(out->batch_tokens))
        return sized_refuse_as_model(SIZED_AS_MODEL(out->batch_size) ? "batch_size" : "batch_tokens", err);
    return out->batch_size > 0 || out->batch_tokens > 0 ? RAPT_OK : rapt_fail(err, RAPT_ERR_VALUE, "a batch of 0 sentences");
}

rapt_loader *rapt_loader_new(const rapt_dataset *d, const rapt_loader_options *options, rapt_error *err)
{
    rapt_loader_options o;
    if (loader_take_options(options, &o, err) != RAPT_OK)
        return NULL;
    if (d->packed)
        return loader_packed(d, o.batch_tokens, o.shuffle, o.seed, err);
    return o.batch_tokens > 0 ? loader_by_tokens(d, o.batch_tokens, o.seed, err)
                              : loader_by_sentences(d, o.batch_size, o.shuffle, o.seed, err);
}

size_t rapt_loader_batches(const rapt_loader *l)
{
    return l->batches;
}

static int32_t *new_ids(rapt_loader *l, size_t count, int32_t value)
{
    int32_t *ids = arena_array(&l->memory, count, sizeof *ids);
    for (size_t i = 0; ids && i < count; i++)
        ids[i] = value;
    return ids;
}

/* The row of an epoch that is row i of a batch. */
static size_t loader_row(const rapt_loader *l, const size_t *chosen, size_t i)
{
    return l->data->rejected ? 2 * chosen[i / 2] + i % 2 : chosen[i];
}

static size_t max_length(const rapt_loader *l, const dataset_example *rows, size_t n, bool target)
{
    size_t max = l->data->options.pad_to_max ? l->data->options.max_len : 1;
    for (size_t i = 0; i < n; i++) {
        size_t length = target ? rows[i].target_len : rows[i].source_len;
        max = length > max ? length : max;
    }
    return max;
}

static void loader_fill_row(rapt_batch *b, size_t row, const dataset_example *e, int32_t bos, int32_t *source, int32_t *inputs,
                            int32_t *labels)
{
    if (e->source_len > 0)
        memcpy(source, e->source, e->source_len * sizeof *source);
    memcpy(labels, e->target, e->target_len * sizeof *labels);
    inputs[0] = e->inputs ? e->inputs[0] : bos;
    memcpy(inputs + 1, e->inputs ? e->inputs + 1 : e->target, (e->target_len - 1) * sizeof *inputs);
    b->source_lens[row] = (int32_t)e->source_len;
    b->target_lens[row] = (int32_t)e->target_len;
    b->tokens += e->counted;
}

/* The rows of a batch as an epoch sees them; NULL: out of memory. */
static dataset_example *loader_rows(rapt_loader *l, const size_t *chosen, size_t n, size_t epoch)
{
    dataset_example *rows = arena_array(&l->memory, n, sizeof *rows);
    for (size_t i = 0; rows && i < n; i++) {
        const size_t row = loader_row(l, chosen, i), own = l->data->rejected ? row : loader_example(l, row);
        if (epoch == NO_EPOCH)
            rows[i] = *dataset_row(l->data, own);
        else if (!dataset_segment(l->data, epoch, own, row, &l->memory, &rows[i]))
            return NULL;
    }
    return rows;
}

/* The batch of `examples` chosen entries. */
static const rapt_batch *assemble(rapt_loader *l, const size_t *chosen, size_t examples, size_t epoch)
{
    const size_t n = l->data->rejected ? 2 * examples : examples;
    l->kept = 0;
    arena_release(&l->memory, (arena_mark){0});
    const dataset_example *rows = loader_rows(l, chosen, n, epoch);
    if (!rows)
        return NULL;
    size_t source_time = max_length(l, rows, n, false), target_time = max_length(l, rows, n, true);
    if (epoch == NO_EPOCH && l->data->dropout.p > 0)
        source_time = target_time = l->data->options.max_len;
    const rapt_special_ids special = l->data->special;
    int32_t *source = new_ids(l, n * source_time, special.pad), *inputs = new_ids(l, n * target_time, special.pad);
    int32_t *labels = new_ids(l, n * target_time, special.pad);
    rapt_batch *b = &l->batch;
    *b = (rapt_batch){.source_lens = new_ids(l, n, 0), .target_lens = new_ids(l, n, 0),
                      .examples = (uint32_t *)new_ids(l, n, 0)};
    b->source = (rapt_tokens){.ids = source, .batch = n, .time = source_time, .lens = b->source_lens};
    b->inputs = (rapt_tokens){.ids = inputs, .batch = n, .time = target_time, .lens = b->target_lens};
    b->labels = (rapt_tokens){.ids = labels, .batch = n, .time = target_time, .lens = b->target_lens};
    if (!source || !inputs || !labels || !b->source_lens || !b->target_lens || !b->examples)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        b->examples[i] = (uint32_t)loader_row(l, chosen, i);
        loader_fill_row(b, i, &rows[i], special.bos, source + i * source_time,
                        inputs + i * target_time, labels + i * target_time);
    }
    return b;
}

const rapt_batch *rapt_loader_batch(rapt_loader *l, size_t epoch, size_t index)
{
    if (!l->ordered || l->epoch != epoch)
        order_epoch(l, epoch);
    if (l->kept == index + 1) /* the passes of a step ask for the batch that they are parts of */
        return &l->batch;
    size_t batch = l->batch_order[index], first = l->starts[batch];
    const rapt_batch *made = assemble(l, l->order + first, l->starts[batch + 1] - first, epoch);
    l->kept = made ? index + 1 : 0;
    return made;
}

/* The largest of the batches of an epoch in order of length. */
static size_t largest_batch(const rapt_loader *l)
{
    size_t best = 0, max = 0;
    for (size_t i = 0; i < l->batches; i++) {
        size_t size = (l->starts[i + 1] - l->starts[i]) * l->window[l->starts[i + 1] - 1].length;
        if (size >= max) {
            best = i;
            max = size;
        }
    }
    return best;
}

const rapt_batch *rapt_loader_largest(rapt_loader *l)
{
    size_t count = l->entries, n = count < l->batch_size ? count : l->batch_size, first = count - n;
    list_epoch(l, NO_EPOCH);
    l->ordered = false;
    sort_window(l, l->order, count);
    if (!l->batch_size) {
        size_t batch = largest_batch(l);
        first = l->starts[batch];
        n = l->starts[batch + 1] - first;
    }
    return assemble(l, l->order + first, n, NO_EPOCH);
}
