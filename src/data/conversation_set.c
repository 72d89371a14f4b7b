/* data/conversation_set.c: conversations of a file as rows of tokens and labels. loader.c divides them into batches. */
#include "data/conversation_set.h"

#include "base/chars.h"
#include "base/file.h"
#include "base/rng.h"
#include "data/data_defaults.h"
#include "data/dataset.h"
#include "rapt/tape.h"
#include "text/lines.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define MAX_BYTES FILE_GIB(8)

/* ---- files -------------------------------------------------------------------------------------------------------- */

struct conversation_file {
    struct lines lines;
    char *path;
};

static bool is_blank(const struct lines *lines)
{
    size_t i = 0;
    while (i < lines->count && utf8_is_blank(lines->line[i]))
        i++;
    return i == lines->count;
}

conversation_file *conversation_file_open(const char *path, rapt_error *err)
{
    rapt_error why = {0};
    conversation_file *f = calloc(1, sizeof *f);
    if (!f || !(f->path = chars_copy(path)))
        rapt_fail(&why, RAPT_ERR_MEMORY, "%s: out of memory", path);
    else if (lines_read(path, MAX_BYTES, &f->lines, &why) == RAPT_OK && is_blank(&f->lines))
        rapt_fail(&why, RAPT_ERR_FORMAT, "%s: the file %s", path, f->lines.count ? "has only blank lines" : "is empty");
    if (!why.code)
        return f;
    conversation_file_close(f);
    rapt_fail(err, why.code, "%s", why.message);
    return NULL;
}

void conversation_file_close(conversation_file *f)
{
    if (!f)
        return;
    lines_free(&f->lines);
    free(f->path);
    free(f);
}

rapt_code conversation_file_each(const conversation_file *f, conversation_fn *each, void *context, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < f->lines.count && !code; i++) {
        conversation c;
        rapt_error why = {0};
        if (utf8_is_blank(f->lines.line[i]))
            continue;
        code = conversation_read(f->lines.line[i], f->lines.length[i], &c, &why);
        if (code && code != RAPT_ERR_FORMAT)
            rapt_fail(err, code, "%s", why.message);
        else
            code = each(context, i + 1, &c, code, &why, err);
        conversation_free(&c);
    }
    return code;
}

/* ---- examples ----------------------------------------------------------------------------------------------------- */

typedef struct set_maker {
    const conversation_file *file;
    const conversation_set_options *o;
    rapt_dataset *d;
    size_t lines; /* of this split */
} set_maker;

/* Row [n] of a conversation of n + 1 tokens: each but the last is an input, each but the first a label. */
static rapt_code set_keep(rapt_dataset *d, const conversation_tokens *t, size_t n, size_t counted, rapt_error *err)
{
    dataset_example e = {.target_len = n, .counted = counted};
    e.inputs = arena_array(&d->memory, n, sizeof *e.inputs);
    e.target = arena_array(&d->memory, n, sizeof *e.target);
    if (!e.inputs || !e.target)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the data set");
    memcpy(e.inputs, t->ids, n * sizeof *e.inputs);
    for (size_t i = 0; i < n; i++)
        e.target[i] = t->counts[i + 1] ? t->ids[i + 1] : RAPT_NO_LABEL;
    d->examples[d->count++] = e;
    return RAPT_OK;
}

static rapt_code set_take(set_maker *m, size_t line, const conversation_tokens *t, rapt_error *err)
{
    const size_t max = m->o->context, all = t->count > 0 ? t->count - 1 : 0, n = all < max ? all : max;
    size_t counted = 0;
    for (size_t i = 0; i < n; i++)
        counted += t->counts[i + 1];
    if (all > max && m->o->too_long == RAPT_TOO_LONG_ERROR)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s:%zu: a conversation of %zu tokens; model.context %zu allows %zu", m->file->path,
                         line, t->count, max, max + 1);
    if (all > max && (m->o->too_long == RAPT_TOO_LONG_DROP || counted == 0)) {
        m->d->dropped++;
        return RAPT_OK;
    }
    if (counted == 0)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s:%zu: no token carries loss", m->file->path, line);
    m->d->cut += all > max;
    return set_keep(m->d, t, n, counted, err);
}

/* A conversation_fn. */
static rapt_code set_add(void *context, size_t line, const conversation *c, rapt_code code, const rapt_error *why,
                         rapt_error *err)
{
    set_maker *m = context;
    const double fraction = m->o->validation_fraction;
    conversation_tokens t;
    rapt_error reason = {0};
    if (code)
        return rapt_fail(err, code, "%s:%zu: %s", m->file->path, line, why->message);
    if (stop_asked(m->o->rule.stop))
        return rapt_fail(err, RAPT_ERR_INTERRUPTED, "stopped");
    if ((fraction > 0 && rng_uniform(conversation_key(c), 1) < fraction) != m->o->validation)
        return RAPT_OK;
    m->lines++;
    code = conversation_encode(c, &m->o->rule, &t, &reason);
    if (code)
        rapt_fail(err, code, "%s:%zu: %s", m->file->path, line, reason.message);
    else
        code = set_take(m, line, &t, err);
    conversation_tokens_free(&t);
    return code;
}

rapt_dataset *conversation_set_new(const conversation_file *f, const conversation_set_options *o, rapt_error *err)
{
    static const rapt_special_ids padding = {.pad = 0};
    rapt_dataset_options of_set = {DATASET_DEFAULTS};
    of_set.max_len = o->context;
    of_set.too_long = o->too_long;
    of_set.validation = o->validation;
    of_set.special = &padding;
    set_maker m = {f, o, dataset_begin(&of_set, f->lines.count, err), 0};
    if (!m.d)
        return NULL;
    m.d->packed = o->packed;
    rapt_code code = conversation_file_each(f, set_add, &m, err);
    if (!code && m.d->count > 0)
        return m.d;
    if (!code)
        rapt_fail(err, RAPT_ERR_VALUE, "%s: no conversation is left%s: %zu, %zu of them left out as too long for "
                  "model.context %zu%s", f->path,
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
    for (size_t i = 0; i < d->count; i++) {
        const dataset_example *e = &d->examples[i];
        hash = rng_mix(hash, XXH3_64bits(e->inputs, e->target_len * sizeof *e->inputs));
        hash = rng_mix(hash, XXH3_64bits(e->target, e->target_len * sizeof *e->target));
    }
    return hash;
}

int32_t conversation_set_max_id(const rapt_dataset *d)
{
    int32_t max = 0;
    for (size_t i = 0; i < d->count; i++)
        for (size_t j = 0; j < d->examples[i].target_len; j++) {
            const dataset_example *e = &d->examples[i];
            max = e->inputs[j] > max ? e->inputs[j] : max;
            max = e->target[j] > max ? e->target[j] : max;
        }
    return max;
}
