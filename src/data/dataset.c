/* data/dataset.c: pairs as token ids; sentences that are too long are truncated, dropped or refused. For the loader. */
#include "data/dataset.h"

#include "base/sized.h"
#include "base/stop.h"
#include "data/data_defaults.h"
#include "data/pairs.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

typedef struct sentence {
    int32_t *ids;
    size_t count;
} sentence;

/* The sentence with <eos>. */
static rapt_code dataset_encode(const rapt_dataset *d, const rapt_tokenizer *k, const char *text, sentence *s, rapt_error *err)
{
    rapt_code code = tokenizer_encode_within(k, text, strlen(text), d->options.specials_in_text, &s->ids, &s->count, err);
    int32_t *longer = code ? NULL : realloc(s->ids, (s->count + 1) * sizeof *longer);
    if (code)
        return code;
    if (!longer) {
        free(s->ids);
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the tokens of a line");
    }
    s->ids = longer;
    s->ids[s->count++] = d->special.eos;
    return RAPT_OK;
}

static int32_t *copy_ids(rapt_dataset *d, const sentence *s, size_t length)
{
    int32_t *ids = arena_array(&d->memory, length, sizeof *ids);
    return ids ? memcpy(ids, s->ids, length * sizeof *ids) : NULL;
}

static rapt_code dataset_keep(rapt_dataset *d, size_t pair, const sentence *source, const sentence *target, rapt_error *err)
{
    size_t max = d->options.max_len;
    dataset_example e = {.pair = pair, .source_len = source->count < max ? source->count : max,
                         .target_len = target->count < max ? target->count : max};
    e.counted = e.target_len;
    e.source = copy_ids(d, source, e.source_len);
    e.target = copy_ids(d, target, e.target_len);
    if (!e.source || !e.target)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the data set");
    d->examples[d->count++] = e;
    return RAPT_OK;
}

static rapt_code dataset_take(rapt_dataset *d, const rapt_pairs *pairs, size_t i, const sentence *source,
                              const sentence *target, rapt_error *err)
{
    size_t longest = source->count > target->count ? source->count : target->count;
    if (longest > d->options.max_len && d->options.too_long == RAPT_TOO_LONG_ERROR)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s:%zu: a sentence of %zu tokens; at most %zu are allowed",
                         pairs_path_of(pairs, i), rapt_pairs_line(pairs, i), longest, d->options.max_len);
    if (longest > d->options.max_len && d->options.too_long == RAPT_TOO_LONG_DROP) {
        d->dropped++;
        return RAPT_OK;
    }
    return dataset_keep(d, i, source, target, err);
}

static rapt_code dataset_add(rapt_dataset *d, const rapt_pairs *pairs, size_t i, const rapt_tokenizer *source,
                             const rapt_tokenizer *target, rapt_error *err)
{
    sentence s, t;
    rapt_code code = dataset_encode(d, source, rapt_pairs_source(pairs, i), &s, err);
    if (code)
        return code;
    code = dataset_encode(d, target, rapt_pairs_target(pairs, i), &t, err);
    if (!code) {
        code = dataset_take(d, pairs, i, &s, &t, err);
        free(t.ids);
    }
    free(s.ids);
    return code;
}

bool dataset_has_empty_side(const rapt_pairs *pairs, size_t i)
{
    return utf8_is_blank(rapt_pairs_source(pairs, i)) || utf8_is_blank(rapt_pairs_target(pairs, i));
}

static rapt_code dataset_fill(rapt_dataset *d, const rapt_pairs *pairs, const rapt_tokenizer *source,
                              const rapt_tokenizer *target, rapt_error *err)
{
    for (size_t i = 0; i < rapt_pairs_count(pairs); i++) {
        bool out = rapt_pairs_in_validation(pairs, i, d->options.validation_fraction);
        if (stop_asked((stop_check){d->options.stop, d->options.stop_context}))
            return rapt_fail(err, RAPT_ERR_INTERRUPTED, "stopped");
        if (out != d->options.validation)
            continue;
        const bool empty = dataset_has_empty_side(pairs, i);
        d->empty += empty;
        rapt_code code = empty ? RAPT_OK : dataset_add(d, pairs, i, source, target, err);
        if (code)
            return code;
    }
    if (d->count == 0)
        return rapt_fail(err, RAPT_ERR_VALUE,
                         "no pair is left for %s: %zu pairs, %zu dropped as too long, %zu with an empty side%s",
                         d->options.validation ? "validation" : "training", rapt_pairs_count(pairs), d->dropped, d->empty,
                         d->options.validation ? " (data.validation_fraction is the share for it; 0: no validation)" : "");
    return RAPT_OK;
}

SIZED_ENDS_WITH(rapt_dataset_options, reserved);

void rapt_dataset_options_init(rapt_dataset_options *o, size_t size)
{
    sized_init(o, size, &(rapt_dataset_options){DATASET_DEFAULTS}, sizeof *o);
}

static rapt_code dataset_take_options(const rapt_dataset_options *given, rapt_dataset_options *out, rapt_error *err)
{
    *out = (rapt_dataset_options){DATASET_DEFAULTS};
    const rapt_code code = sized_take(out, given, out->reserved, sizeof out->reserved, "dataset_options", err);
    if (code)
        return code;
    if (SIZED_AS_MODEL(out->max_len))
        return sized_refuse_as_model("max_len", err);
    if (!(out->validation_fraction >= 0 && out->validation_fraction <= 1))
        return rapt_fail(err, RAPT_ERR_VALUE, "validation_fraction is %g: it is 0 to 1", out->validation_fraction);
    return out->max_len > 0 ? RAPT_OK : rapt_fail(err, RAPT_ERR_VALUE, "max_len is 0: <eos> is a token, too");
}

rapt_dataset *dataset_begin(const rapt_dataset_options *o, size_t most, rapt_error *err)
{
    rapt_dataset *d = calloc(1, sizeof *d);
    if (d) {
        arena_init(&d->memory, (size_t)1 << 20);
        d->options = *o;
        d->special = o->special ? *o->special : RAPT_SPECIAL_IDS;
        d->options.special = NULL; /* borrowed for this call */
        d->examples = malloc((most ? most : 1) * sizeof *d->examples);
    }
    if (d && d->examples)
        return d;
    rapt_dataset_free(d);
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the data set");
    return NULL;
}

rapt_dataset *rapt_dataset_new(const rapt_pairs *pairs, const rapt_tokenizer *source, const rapt_tokenizer *target,
                               const rapt_dataset_options *options, rapt_error *err)
{
    rapt_dataset_options o;
    if (dataset_take_options(options, &o, err) != RAPT_OK)
        return NULL;
    rapt_dataset *d = dataset_begin(&o, rapt_pairs_count(pairs), err);
    if (d && dataset_fill(d, pairs, source, target, err) == RAPT_OK)
        return d;
    rapt_dataset_free(d);
    return NULL;
}

void rapt_dataset_free(rapt_dataset *d)
{
    if (!d)
        return;
    arena_free(&d->memory);
    corpus_pass_free(&d->pass);
    free(d->examples);
    free(d);
}

size_t rapt_dataset_count(const rapt_dataset *d)
{
    return d->count;
}

size_t rapt_dataset_dropped(const rapt_dataset *d)
{
    return d->dropped;
}

size_t rapt_dataset_empty(const rapt_dataset *d)
{
    return d->empty;
}

size_t dataset_rows(const rapt_dataset *d)
{
    return d->rejected ? 2 * d->count : d->count;
}

const dataset_example *dataset_row(const rapt_dataset *d, size_t row)
{
    if (!d->rejected)
        return &d->examples[row];
    return row % 2 == 0 ? &d->examples[row / 2] : &d->rejected[row / 2];
}

size_t dataset_tokens_of(const rapt_dataset *d, size_t example)
{
    return d->examples[example].target_len + (d->rejected ? d->rejected[example].target_len : 0);
}

size_t dataset_target_tokens(const rapt_dataset *d)
{
    size_t sum = 0;
    for (size_t i = 0; i < d->count; i++)
        sum += dataset_tokens_of(d, i);
    return sum;
}

size_t dataset_longest(const rapt_dataset *d)
{
    size_t longest = 0;
    for (size_t i = 0; i < dataset_rows(d); i++)
        longest = dataset_row(d, i)->target_len > longest ? dataset_row(d, i)->target_len : longest;
    return longest;
}

size_t dataset_packed_batches(const rapt_dataset *d, size_t tokens)
{
    const size_t batches = dataset_target_tokens(d) / tokens;
    return batches > 0 ? batches : 1;
}
