/* train/checkpoint/checkpoint.c: parameters, moments and counters in one safetensors file; the bits of the
 * counters are stored as hex text in its metadata, which no locale changes. For the training loop. */
#include "train/checkpoint/checkpoint.h"

#include "base/chars.h"
#include "base/disk.h"
#include "base/file.h"
#include "base/quote.h"
#include "group/group_ops.h"
#include "io/model_core.h"
#include "io/params_file.h"
#include "io/seal.h"
#include "tensor/params.h"
#include "train/checkpoint/averages.h"
#include "train/checkpoint/checkpoint_list.h"
#include "train/optimizer/adam_moment.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER 48
#define HEX_DIGITS 16

/* Disk space and averages depend on it: a checkpoint that cannot be deleted is an error. */
static rapt_code delete_one(const char *folder, uint64_t step, rapt_error *err)
{
    char *path = checkpoint_path(folder, step);
    rapt_code code = RAPT_OK;
    if (!path)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory", folder);
    else if (!disk_remove(path) && errno != ENOENT)
        code = rapt_fail(err, RAPT_ERR_IO, "cannot delete %.380s: %s", path, strerror(errno));
    free(path);
    return code;
}

/* Deletes all checkpoints except the newest plan.keep. Also deletes checkpoints that a stop has written between two due ones,
 * except the newest, so that a stopped run keeps the same checkpoints as one that was never stopped, with the same average. */
static rapt_code delete_old(const char *folder, checkpoint_plan plan, rapt_error *err)
{
    checkpoint_list l;
    rapt_code code = checkpoint_list_read(folder, &l, err);
    size_t kept = 0;
    for (size_t i = l.count; i > 0 && !code; i--) {
        bool due = i == l.count || plan.every == 0 || l.steps[i - 1] % plan.every == 0;
        if (due && kept < plan.keep)
            kept++;
        else
            code = delete_one(folder, l.steps[i - 1], err);
    }
    checkpoint_list_free(&l);
    return code;
}

/* Valid ranges of the state's counters. They are checked, as a file of another program or an edited one has no checksums. */
typedef enum state_kind {
    WHOLE,
    FINITE,
    NOT_NEGATIVE, /* and finite */
    BEST,         /* a measured value; infinite if nothing was measured */
    MEASURED,     /* a measured value; NaN if nothing was measured */
    OPTIONAL,     /* a measured value, and finite; not in the file if nothing was measured: then NaN */
    COUNT         /* whole; not in the file if it is 0 */
} state_kind;

typedef struct state_member {
    const char *key;
    state_kind kind;
    size_t offset;
} state_member;

#define MEMBER(name, kind) {#name, kind, offsetof(checkpoint_state, name)}
static const state_member STATE[] = {
    MEMBER(step, WHOLE), MEMBER(recipe_hash, WHOLE), MEMBER(nll, FINITE), MEMBER(book, FINITE), MEMBER(tokens, WHOLE),
    MEMBER(grad_norm, FINITE), MEMBER(best_val_loss, BEST), MEMBER(val_loss, MEASURED), MEMBER(seconds, NOT_NEGATIVE),
    MEMBER(waited, WHOLE), MEMBER(best_score, OPTIONAL), MEMBER(stale, COUNT), MEMBER(reductions, COUNT),
    MEMBER(changed_after, COUNT), MEMBER(adam_from, COUNT), MEMBER(fixed_hash, COUNT),
    MEMBER(reward_chosen, OPTIONAL), MEMBER(reward_rejected, OPTIONAL), MEMBER(reward_correct, COUNT)};
#undef MEMBER
#define STATE_COUNT (sizeof STATE / sizeof *STATE)

/* Each member is 8 bytes: a uint64_t or a double. */
static uint64_t bits_of(const checkpoint_state *s, const state_member *m)
{
    uint64_t bits;
    memcpy(&bits, (const char *)s + m->offset, sizeof bits);
    return bits;
}

static bool is_whole(state_kind kind)
{
    return kind == WHOLE || kind == COUNT;
}

static bool is_absent(const checkpoint_state *s, const state_member *m)
{
    const uint64_t bits = bits_of(s, m);
    double x;
    memcpy(&x, &bits, sizeof x);
    return (m->kind == OPTIONAL && isnan(x)) || (m->kind == COUNT && bits == 0);
}

#define TUNED_KEY "tuned"

/* Writes keys and values, key after key; returns how many texts these are. */
static size_t write_state(const checkpoint_state *s, char text[STATE_COUNT][NUMBER], const char **metadata)
{
    size_t n = 0;
    if (*s->tuned) {
        metadata[n++] = TUNED_KEY;
        metadata[n++] = s->tuned;
    }
    for (size_t i = 0; i < STATE_COUNT; i++) {
        if (is_absent(s, &STATE[i]))
            continue;
        snprintf(text[i], NUMBER, is_whole(STATE[i].kind) ? "%" PRIu64 : "%016" PRIx64, bits_of(s, &STATE[i]));
        metadata[n++] = STATE[i].key;
        metadata[n++] = text[i];
    }
    return n;
}

/* Accepts only what is written: digits, no sign, no space, nothing too large. */
static bool read_whole(const char *text, uint64_t *x)
{
    errno = 0;
    *x = strtoull(text, NULL, 10);
    return *text && strspn(text, "0123456789") == strlen(text) && errno == 0;
}

static bool read_bits(const char *text, uint64_t *bits)
{
    *bits = strtoull(text, NULL, 16);
    return strlen(text) == HEX_DIGITS && strspn(text, "0123456789abcdef") == HEX_DIGITS;
}

static bool is_allowed(double x, state_kind kind)
{
    switch (kind) {
    case BEST: return isfinite(x) || x == INFINITY;
    case MEASURED: return isfinite(x) || isnan(x);
    case NOT_NEGATIVE: return isfinite(x) && x >= 0;
    default: return isfinite(x);
    }
}

static bool checkpoint_read_member(const char *text, state_kind kind, uint64_t *bits)
{
    double x;
    if (is_whole(kind))
        return read_whole(text, bits);
    if (!read_bits(text, bits))
        return false;
    memcpy(&x, bits, sizeof x);
    return is_allowed(x, kind);
}

static rapt_code read_state(const safetensors *file, const char *path, checkpoint_state *s, rapt_error *err)
{
    for (size_t i = 0; i < STATE_COUNT; i++) {
        uint64_t bits = 0;
        const state_kind kind = STATE[i].kind;
        const char *text = safetensors_metadata(file, STATE[i].key);
        if (!text && kind == OPTIONAL)
            memcpy(&bits, &(double){NAN}, sizeof bits);
        else if (!text && kind != COUNT)
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"%s\" is missing; not a checkpoint", path, STATE[i].key);
        else if (text && !checkpoint_read_member(text, kind, &bits))
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s: \"%s\" is \"%.40s\", which no checkpoint holds", path, STATE[i].key,
                             quote(text).text);
        memcpy((char *)s + STATE[i].offset, &bits, sizeof bits);
    }
    const char *tuned = safetensors_metadata(file, TUNED_KEY);
    snprintf(s->tuned, sizeof s->tuned, "%s", tuned ? tuned : "");
    return RAPT_OK;
}

/* Names of the moments: "adam.m.NAME", "adam.v.NAME"; in 8 bits "adam8.m.NAME", "adam8.v.NAME"; Muon's "muon.m.NAME"; SGD's
 * "sgd.m.NAME". */
static char *moment_name(const adam_moment *moment, bool second, const char *name)
{
    return chars_print("%s.%s.%s", moment->prefix, second ? "v" : "m", name);
}

typedef struct entry_list {
    safetensors_entry *entries; /* with a group, entries of moments have no data, which is collected from the ranks */
    char **names; /* owned */
    size_t count, named;
} entry_list;

/* Does nothing if there is no such moment. */
static bool add_moment(entry_list *l, const moments *of, const rapt_param *p, bool second)
{
    const adam_moment moment = adam_moment_of(of->adam, p->index, second);
    if (!moment.data)
        return true;
    const void *data = of->group ? NULL : moment.data;
    char *name = moment_name(&moment, second, p->value.name);
    l->names[l->named++] = name;
    if (!name)
        return false;
    l->entries[l->count++] = moment.in_8_bits ? (safetensors_entry){name, SAFETENSORS_U8, 1, {moment.bytes}, data, moment.bytes}
                                              : params_entry(name, &p->value, data);
    return true;
}

/* Does nothing if the parameter has no average. */
static bool add_average(entry_list *l, const moments *of, const rapt_param *p)
{
    const rapt_real *data = averages_of(of, p);
    if (!data)
        return true;
    char *name = averages_name(p);
    l->names[l->named++] = name;
    if (name)
        l->entries[l->count++] = params_entry(name, &p->value, data);
    return name != NULL;
}

static bool list_entries(entry_list *l, const rapt_params *set, const moments *of)
{
    size_t n = rapt_params_count(set);
    l->entries = malloc(4 * n * sizeof *l->entries);
    l->names = malloc(3 * n * sizeof *l->names);
    bool ok = l->entries && l->names;
    for (size_t i = 0; ok && i < n; i++) {
        if (params_at(set, i)->buffer)
            continue;
        const rapt_param *p = rapt_params_at(set, i);
        l->entries[l->count++] = params_entry(p->value.name, &p->value, p->value.data);
        ok = add_moment(l, of, p, false) && add_moment(l, of, p, true) && add_average(l, of, p);
    }
    return ok;
}

static void free_entries(entry_list *l)
{
    for (size_t i = 0; i < l->named; i++)
        free(l->names[i]);
    free(l->names);
    free(l->entries);
}

/* The source of the file's data: all ranks go through the same parts in the same order. */
typedef struct collector {
    const moments *moments;
    const rapt_params *set;
    moments_part part;
    bool any; /* a part is left to collect */
} collector;

static collector collector_begin(const moments *m, const rapt_params *set)
{
    collector c = {.moments = m, .set = set};
    c.any = moments_next(m, set, &c.part);
    return c;
}

/* A safetensors_source's read. */
static rapt_code collect_next(void *context, size_t entry, size_t offset, void *to, size_t bytes, rapt_error *err)
{
    collector *c = context;
    (void)entry;
    if (!c->any || bytes != c->part.count || offset != c->part.first)
        return rapt_fail(err, RAPT_ERR_VALUE, "a checkpoint asks for moments in another order than they come in");
    rapt_code code = moments_collect(c->moments, &c->part, to, err);
    c->any = !code && moments_next(c->moments, c->set, &c->part);
    return code;
}

/* Collects the remaining parts after a failure, because the other ranks do not know that rank 0 could not write the file. `to` is
 * memory for the largest part on rank 0, and NULL on the others. */
static rapt_code collect_rest(collector *c, void *to, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (; c->any && !code; c->any = moments_next(c->moments, c->set, &c->part))
        code = moments_collect(c->moments, &c->part, to, err);
    return code;
}

static rapt_code checkpoint_write_file(const char *path, const entry_list *l, const checkpoint_state *state, const char *config,
                                       collector *c, rapt_error *err)
{
    char text[STATE_COUNT][NUMBER];
    const char *metadata[2 * STATE_COUNT + 5];
    const safetensors_source source = {collect_next, c};
    size_t n = write_state(state, text, metadata);
    metadata[n++] = SEAL_KEY;
    metadata[n++] = config;
    metadata[n] = NULL;
    return safetensors_write_from(path, l->entries, l->count, metadata, &source, err);
}

static rapt_code agree(const moments *m, rapt_code code, rapt_error *err)
{
    return m->group ? group_agree(m->group, code, err) : code;
}

/* The checkpoint of rank 0, or of the only process. */
static rapt_code write_first(const char *folder, const rapt_model *m, const moments *of, const checkpoint_state *state,
                             checkpoint_plan plan, rapt_error *err)
{
    entry_list l = {0};
    char *config = NULL;
    char *path = checkpoint_path(folder, state->step), *dir = checkpoint_folder(folder);
    void *spare = of->group ? malloc(moments_part_max()) : NULL;
    rapt_code code = path && dir && (spare || !of->group) && list_entries(&l, m->params, of)
                         ? file_make_dir(dir, err)
                         : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a checkpoint", folder);
    if (!code)
        code = seal_text(m, path, &config, err);
    const rapt_code ready = code;
    code = agree(of, code, err);
    collector c = collector_begin(of, m->params);
    if (!code) {
        code = checkpoint_write_file(path, &l, state, config, &c, err);
        rapt_code rest = of->group ? collect_rest(&c, spare, code ? NULL : err) : RAPT_OK; /* the parts that a failure has left */
        code = code ? code : rest;
        code = code ? code : delete_old(folder, plan, err);
    }
    free_entries(&l);
    free(config);
    free(spare);
    free(path);
    free(dir);
    return ready ? ready : agree(of, code, err);
}

/* Called before the tensors are checked, because their shapes would tell less clearly that the checkpoint is another model's. */
static rapt_code check_state(const char *folder, const char *path, const checkpoint_state *s, checkpoint_wanted wanted,
                             rapt_error *err)
{
    if (s->step != wanted.step)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: the file is of step %" PRIu64 ", which is not that of its name", path,
                         s->step);
    if (s->adam_from > s->step || s->changed_after > s->step || s->stale > s->step || s->reductions > s->step ||
        s->reward_correct > s->tokens)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: a counter is larger than it can be", path);
    if (s->recipe_hash == wanted.recipe_hash || s->recipe_hash == wanted.first_hash ||
        (s->fixed_hash && s->fixed_hash == wanted.fixed_hash))
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "%s: the checkpoint of step %" PRIu64 " belongs to another recipe, model or data (see "
                     "its recipe.yaml)", folder, s->step);
}

/* The run may have begun with other keys than it is resumed with, so its number is the checkpoint's. */
static rapt_code take_run(const safetensors *file, const char *path, rapt_model *m, rapt_error *err)
{
    uint64_t run;
    rapt_code code = seal_run(file, path, &run, err);
    if (code)
        return code;
    m->run = run ? run : m->run;
    return seal_check_model(file, path, m, err);
}

rapt_code checkpoint_save(const char *folder, const rapt_model *m, const moments *of, const checkpoint_state *state,
                          checkpoint_plan plan, rapt_error *err)
{
    if (moments_at_first(of))
        return write_first(folder, m, of, state, plan, err);
    rapt_code code = agree(of, RAPT_OK, err);
    collector c = collector_begin(of, m->params);
    code = code ? code : collect_rest(&c, NULL, err);
    return code ? code : agree(of, RAPT_OK, err);
}

/* ---- reading -------------------------------------------------------------------------------------------------- */

/* Codes have no wrong values: any byte is a number of its block. */
static rapt_code check_codes(const checkpoint_file *f, const char *name, size_t bytes, rapt_error *err)
{
    const safetensors_entry *e = safetensors_find(f->file, name);
    if (!e)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: tensor \"%s\" is missing", f->path, name);
    return e->dtype == SAFETENSORS_U8 && e->ndim == 1 && e->bytes == bytes
               ? RAPT_OK
               : rapt_fail(err, RAPT_ERR_FORMAT, "%s: tensor \"%s\" has not the %zu bytes of moments in 8 bits", f->path, name,
                           bytes);
}

static rapt_code check_moment(const checkpoint_file *f, const rapt_param *p, const rapt_adam *adam, bool second, rapt_error *err)
{
    const adam_moment moment = adam_moment_of(adam, p->index, second);
    char *name = moment.data ? moment_name(&moment, second, p->value.name) : NULL;
    rapt_code code = RAPT_OK;
    if (moment.data && !name)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory", f->path);
    else if (moment.data)
        code = moment.in_8_bits ? check_codes(f, name, moment.bytes, err) : params_check(f->file, f->path, name, &p->value, err);
    free(name);
    return code;
}

static rapt_code check_tensors(const checkpoint_file *f, const rapt_params *set, const moments *m, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < rapt_params_count(set) && !code; i++) {
        const rapt_param *p = params_at(set, i);
        if (p->buffer)
            continue;
        code = params_check(f->file, f->path, p->value.name, &p->value, err);
        code = code ? code : check_moment(f, p, m->adam, false, err);
        code = code ? code : check_moment(f, p, m->adam, true, err);
        code = code ? code : averages_check(f->file, f->path, p, m, err);
    }
    return code;
}

rapt_code checkpoint_open(const char *folder, checkpoint_wanted wanted, rapt_model *m, const moments *of,
                          checkpoint_state *state, checkpoint_file *f, rapt_error *err)
{
    *f = (checkpoint_file){.path = checkpoint_path(folder, wanted.step)};
    rapt_code code = f->path ? safetensors_open(f->path, &f->file, err)
                             : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for a checkpoint", folder);
    if (!code)
        code = read_state(f->file, f->path, state, err);
    if (!code)
        code = check_state(folder, f->path, state, wanted, err);
    if (!code)
        code = take_run(f->file, f->path, m, err);
    state->recipe_hash = wanted.recipe_hash;
    return code ? code : check_tensors(f, m->params, of, err);
}

void checkpoint_close(checkpoint_file *f)
{
    safetensors_close(f->file);
    free(f->path);
    *f = (checkpoint_file){0};
}

static rapt_code read_values(const checkpoint_file *f, const rapt_params *set, const moments *m, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < rapt_params_count(set) && !code; i++) {
        if (params_at(set, i)->buffer)
            continue;
        rapt_tensor *x = &rapt_params_at(set, i)->value;
        code = f->file ? params_read(f->file, f->path, x->name, x, x->data, err) : RAPT_OK;
        if (!code && m->group)
            code = group_broadcast(m->group, 0, x->data, rapt_tensor_size(x) * sizeof *x->data, err);
        code = code ? code : averages_read(f->file, f->path, rapt_params_at(set, i), m, err);
    }
    return code;
}

static rapt_code take_moments_part(const checkpoint_file *f, const moments *m, const moments_part *part, void *to,
                                   rapt_error *err)
{
    const adam_moment moment = adam_moment_of(m->adam, part->param, part->second);
    char *name = moment_name(&moment, part->second, adam_param(m->adam, part->param)->value.name);
    const safetensors_entry *e = name ? safetensors_find(f->file, name) : NULL;
    if (e)
        memcpy(to, (const char *)e->data + part->first, part->count);
    free(name);
    return e ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory", f->path);
}

static rapt_code read_moments(const checkpoint_file *f, const rapt_params *set, const moments *m, void *portion,
                              rapt_error *err)
{
    rapt_error own = {0}; /* a failure of rank 0, which hands out the rest all the same, because the others wait for it */
    rapt_code code = RAPT_OK;
    for (moments_part part = {0}; !code && moments_next(m, set, &part);) {
        if (f->file)
            take_moments_part(f, m, &part, portion, &own);
        code = moments_hand_out(m, &part, portion, err);
    }
    return code ? code : agree(m, own.code ? rapt_fail(err, own.code, "%s", own.message) : RAPT_OK, err);
}

rapt_code checkpoint_read(const checkpoint_file *f, uint64_t steps, const rapt_params *set, const moments *m, rapt_error *err)
{
    void *portion = malloc(moments_part_max());
    rapt_code code = agree(m, portion ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a checkpoint"), err);
    if (!code)
        code = read_values(f, set, m, err);
    if (!code && steps > 0)
        code = read_moments(f, set, m, portion, err);
    if (!code)
        rapt_adam_set_steps(m->adam, steps);
    free(portion);
    return code;
}
