/* data/conversation_set.c: conversations or preferences of a file as rows of tokens and labels. loader.c divides them into
 * batches. */
#include "data/conversation_set.h"

#include "base/rng.h"
#include "data/data_defaults.h"
#include "data/dataset.h"
#include "data/preference.h"
#include "rapt/tape.h"

#include <string.h>
#include <xxhash.h>

typedef struct set_maker {
    const conversation_file *file;
    const conversation_set_options *o;
    rapt_dataset *d;
    size_t lines; /* of this split */
} set_maker;

/* The inputs of a conversation that a row keeps, which are one less than its tokens. */
static size_t set_inputs(const set_maker *m, const conversation_tokens *t)
{
    const size_t all = t->count > 0 ? t->count - 1 : 0;
    return all < m->o->context ? all : m->o->context;
}

/* The labels of such a row that carry loss. */
static size_t set_counted(const set_maker *m, const conversation_tokens *t)
{
    const size_t inputs = set_inputs(m, t);
    return conversation_tokens_counted(t, inputs > 0 ? inputs + 1 : 0);
}

/* Row [n] of a conversation of n + 1 tokens: each but the last is an input, each but the first a label. */
static rapt_code set_row(const set_maker *m, const conversation_tokens *t, dataset_example *out, rapt_error *err)
{
    const size_t n = set_inputs(m, t);
    dataset_example e = {.target_len = n, .counted = set_counted(m, t)};
    e.inputs = arena_array(&m->d->memory, n, sizeof *e.inputs);
    e.target = arena_array(&m->d->memory, n, sizeof *e.target);
    if (!e.inputs || !e.target)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the data set");
    memcpy(e.inputs, t->ids, n * sizeof *e.inputs);
    for (size_t i = 0; i < n; i++)
        e.target[i] = t->counts[i + 1] ? t->ids[i + 1] : RAPT_NO_LABEL;
    *out = e;
    return RAPT_OK;
}

/* Takes the row of a conversation, or with `second` the two rows of a preference. */
static rapt_code set_take(set_maker *m, size_t line, const conversation_tokens *t, const conversation_tokens *second,
                          rapt_error *err)
{
    const size_t max = m->o->context, longest = second && second->count > t->count ? second->count : t->count;
    const bool too_long = longest > max + 1, empty = set_counted(m, t) == 0 || (second && set_counted(m, second) == 0);
    if (too_long && m->o->too_long == RAPT_TOO_LONG_ERROR)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s:%zu: a conversation of %zu tokens; model.context %zu allows %zu", m->file->path,
                         line, longest, max, max + 1);
    if (too_long && (m->o->too_long == RAPT_TOO_LONG_DROP || empty)) {
        m->d->dropped++;
        return RAPT_OK;
    }
    if (empty)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s:%zu: no token carries loss", m->file->path, line);
    m->d->cut += too_long;
    rapt_code code = set_row(m, t, &m->d->examples[m->d->count], err);
    if (!code && second)
        code = set_row(m, second, &m->d->rejected[m->d->count], err);
    m->d->count += !code;
    return code;
}

/* Whether a line of this key is of the split. */
static bool set_wants(set_maker *m, uint64_t key)
{
    const double fraction = m->o->validation_fraction;
    const bool wants = (fraction > 0 && rng_uniform(key, 1) < fraction) == m->o->validation;
    m->lines += wants;
    return wants;
}

static rapt_code set_add_conversation(set_maker *m, size_t line, char *text, size_t size, rapt_error *why, rapt_error *err)
{
    conversation c;
    conversation_tokens t = {0};
    rapt_code code = conversation_read(text, size, &c, why);
    if (!code && set_wants(m, conversation_key(&c))) {
        code = conversation_encode(&c, &m->o->rule, &t, why);
        code = code ? code : set_take(m, line, &t, NULL, err);
    }
    conversation_tokens_free(&t);
    conversation_free(&c);
    return code;
}

static rapt_code set_add_preference(set_maker *m, size_t line, char *text, size_t size, rapt_error *why, rapt_error *err)
{
    preference p;
    preference_tokens t = {0};
    rapt_code code = preference_read(text, size, &p, why);
    if (!code && set_wants(m, conversation_key(&p.chosen))) {
        code = preference_encode(&p, &m->o->rule, &t, why);
        code = code ? code : set_take(m, line, &t.chosen, &t.rejected, err);
    }
    preference_tokens_free(&t);
    preference_free(&p);
    return code;
}

/* A conversation_line_fn. */
static rapt_code set_add(void *context, size_t line, char *text, size_t size, rapt_error *err)
{
    set_maker *m = context;
    rapt_error why = {0};
    if (stop_asked(m->o->rule.stop))
        return rapt_fail(err, RAPT_ERR_INTERRUPTED, "stopped");
    const rapt_code code = (m->o->preferences ? set_add_preference : set_add_conversation)(m, line, text, size, &why, err);
    return why.code ? rapt_fail(err, code, "%s:%zu: %s", m->file->path, line, why.message) : code;
}

/* An empty data set with capacity for every line. */
static rapt_dataset *set_begin(const conversation_file *f, const conversation_set_options *o, rapt_error *err)
{
    static const rapt_special_ids padding = {.pad = 0};
    rapt_dataset_options of_set = {DATASET_DEFAULTS};
    of_set.max_len = o->context;
    of_set.too_long = o->too_long;
    of_set.validation = o->validation;
    of_set.special = &padding;
    rapt_dataset *d = dataset_begin(&of_set, f->lines.count, err);
    if (!d)
        return NULL;
    d->packed = o->packed;
    d->rejected = o->preferences ? arena_array(&d->memory, f->lines.count, sizeof *d->rejected) : NULL;
    if (!o->preferences || d->rejected)
        return d;
    rapt_dataset_free(d);
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the data set");
    return NULL;
}

rapt_dataset *conversation_set_new(const conversation_file *f, const conversation_set_options *o, rapt_error *err)
{
    set_maker m = {f, o, set_begin(f, o, err), 0};
    if (!m.d)
        return NULL;
    rapt_code code = conversation_file_lines(f, set_add, &m, err);
    if (!code && m.d->count > 0)
        return m.d;
    if (!code)
        rapt_fail(err, RAPT_ERR_VALUE, "%s: no %s is left%s: %zu, %zu of them left out as too long for "
                  "model.context %zu%s", f->path, o->preferences ? "preference" : "conversation",
                  o->validation ? " for validation" : o->validation_fraction > 0 ? " for training" : "", m.lines, m.d->dropped,
                  o->context,
                  o->validation ? " (data.validation_fraction is the share for it; 0: no validation)" : "");
    rapt_dataset_free(m.d);
    return NULL;
}

size_t conversation_set_cut(const rapt_dataset *d)
{
    return d->cut;
}

uint64_t conversation_set_hash(const rapt_dataset *d)
{
    uint64_t hash = rng_mix(1, d->count);
    for (size_t i = 0; i < dataset_rows(d); i++) {
        const dataset_example *e = dataset_row(d, i);
        hash = rng_mix(hash, XXH3_64bits(e->inputs, e->target_len * sizeof *e->inputs));
        hash = rng_mix(hash, XXH3_64bits(e->target, e->target_len * sizeof *e->target));
    }
    return hash;
}

int32_t conversation_set_max_id(const rapt_dataset *d)
{
    int32_t max = 0;
    for (size_t i = 0; i < dataset_rows(d); i++)
        for (size_t j = 0; j < dataset_row(d, i)->target_len; j++) {
            const dataset_example *e = dataset_row(d, i);
            max = e->inputs[j] > max ? e->inputs[j] : max;
            max = e->target[j] > max ? e->target[j] : max;
        }
    return max;
}
