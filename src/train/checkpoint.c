/* train/checkpoint.c: parameters, moments and counters in one safetensors file; the bits of the state's numbers travel as hex
 * text in its metadata, whatever a locale makes of a decimal point. For the training loop. */
#define _GNU_SOURCE
#include "train/checkpoint.h"

#include "base/file.h"
#include "io/params.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_FORMAT "step-%08" PRIu64 ".safetensors"
#define MAX_NAME 256
#define NUMBER 48

char *checkpoint_path(const char *folder, uint64_t step)
{
    char *path = NULL;
    return asprintf(&path, "%s/checkpoints/" NAME_FORMAT, folder, step) < 0 ? NULL : path;
}

static char *checkpoint_folder(const char *folder)
{
    return file_join(folder, "checkpoints");
}

/* The step in a checkpoint's file name; 0 for other files. */
static uint64_t step_of(const char *file)
{
    uint64_t step;
    char again[MAX_NAME];
    if (sscanf(file, "step-%" SCNu64, &step) != 1)
        return 0;
    snprintf(again, sizeof again, NAME_FORMAT, step);
    return strcmp(file, again) == 0 ? step : 0;
}

uint64_t checkpoint_before(const char *folder, uint64_t below)
{
    char *path = checkpoint_folder(folder);
    DIR *dir = path ? opendir(path) : NULL;
    uint64_t newest = 0;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        uint64_t step = step_of(e->d_name);
        newest = step > newest && step < below ? step : newest;
    }
    if (dir)
        closedir(dir);
    free(path);
    return newest;
}

uint64_t checkpoint_newest(const char *folder)
{
    return checkpoint_before(folder, UINT64_MAX);
}

static void delete_one(const char *folder, uint64_t step)
{
    char *path = checkpoint_path(folder, step);
    if (path)
        unlink(path);
    free(path);
}

/* What stops have left between those that were due, but for the newest: without them the same are kept as of a run that was
 * never stopped, and their mean is the same. */
static void delete_undue(const char *folder, uint64_t every)
{
    uint64_t step = checkpoint_newest(folder);
    while (every && step && (step = checkpoint_before(folder, step)))
        if (step % every != 0)
            delete_one(folder, step);
}

static void delete_old(const char *folder, size_t keep)
{
    uint64_t step = UINT64_MAX;
    for (size_t i = 0; i < keep && step; i++)
        step = checkpoint_before(folder, step);
    while (step && (step = checkpoint_before(folder, step)))
        delete_one(folder, step);
}

static const char *const STATE_KEYS[] = {"step", "recipe_hash", "nll", "book", "tokens", "grad_norm",
                                         "best_val_loss", "val_loss", "seconds", "waited"};
#define STATE_COUNT (sizeof STATE_KEYS / sizeof *STATE_KEYS)

static void write_bits(double x, char text[NUMBER])
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    snprintf(text, NUMBER, "%016" PRIx64, bits);
}

static double read_bits(const char *text)
{
    uint64_t bits = strtoull(text, NULL, 16);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void write_state(const checkpoint_state *s, char text[STATE_COUNT][NUMBER])
{
    snprintf(text[0], NUMBER, "%" PRIu64, s->step);
    snprintf(text[1], NUMBER, "%" PRIu64, s->recipe_hash);
    write_bits(s->nll, text[2]);
    write_bits(s->book, text[3]);
    snprintf(text[4], NUMBER, "%" PRIu64, s->tokens);
    write_bits(s->grad_norm, text[5]);
    write_bits(s->best_val_loss, text[6]);
    write_bits(s->val_loss, text[7]);
    write_bits(s->seconds, text[8]);
    snprintf(text[9], NUMBER, "%" PRIu64, s->waited);
}

static rapt_code read_state(const safetensors *file, const char *path, checkpoint_state *s, rapt_error *err)
{
    const char *text[STATE_COUNT];
    for (size_t i = 0; i < STATE_COUNT; i++)
        if (!(text[i] = safetensors_metadata(file, STATE_KEYS[i])))
            return rapt_fail(err, RAPT_FORMAT, "%s: \"%s\" is missing; not a checkpoint", path, STATE_KEYS[i]);
    *s = (checkpoint_state){strtoull(text[0], NULL, 10), strtoull(text[1], NULL, 10), read_bits(text[2]),
                            read_bits(text[3]), strtoull(text[4], NULL, 10), read_bits(text[5]), read_bits(text[6]),
                            read_bits(text[7]), read_bits(text[8]), strtoull(text[9], NULL, 10)};
    return RAPT_OK;
}

/* Names of the moments: "adam.m.NAME", "adam.v.NAME". */
static char *moment_name(const char *which, const char *name)
{
    char *text = NULL;
    return asprintf(&text, "adam.%s.%s", which, name) < 0 ? NULL : text;
}

typedef struct entry_list {
    safetensors_entry *entries;
    char **names; /* owned */
    size_t count, named;
} entry_list;

static bool add_moments(entry_list *l, const rapt_tensor *p, const rapt_real *m, const rapt_real *v)
{
    char *m_name = moment_name("m", p->name), *v_name = moment_name("v", p->name);
    l->names[l->named++] = m_name;
    l->names[l->named++] = v_name;
    if (!m_name || !v_name)
        return false;
    l->entries[l->count++] = params_entry(m_name, p, m);
    l->entries[l->count++] = params_entry(v_name, p, v);
    return true;
}

static bool list_entries(entry_list *l, const rapt_params *set, const rapt_adam *adam)
{
    size_t n = rapt_params_count(set);
    l->entries = malloc(3 * n * sizeof *l->entries);
    l->names = malloc(2 * n * sizeof *l->names);
    bool ok = l->entries && l->names;
    for (size_t i = 0; ok && i < n; i++) {
        const rapt_param *p = rapt_params_at(set, i);
        if (p->buffer)
            continue;
        l->entries[l->count++] = params_entry(p->value.name, &p->value, p->value.data);
        if (rapt_adam_first_moment(adam, i))
            ok = add_moments(l, &p->value, rapt_adam_first_moment(adam, i), rapt_adam_second_moment(adam, i));
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

static rapt_code write_file(const char *path, const entry_list *l, const checkpoint_state *state, rapt_error *err)
{
    char text[STATE_COUNT][NUMBER];
    const char *metadata[2 * STATE_COUNT + 1];
    write_state(state, text);
    for (size_t i = 0; i < STATE_COUNT; i++) {
        metadata[2 * i] = STATE_KEYS[i];
        metadata[2 * i + 1] = text[i];
    }
    metadata[2 * STATE_COUNT] = NULL;
    return safetensors_write(path, l->entries, l->count, metadata, err);
}

rapt_code checkpoint_save(const char *folder, const rapt_params *set, const rapt_adam *adam,
                          const checkpoint_state *state, checkpoint_plan plan, rapt_error *err)
{
    entry_list l = {0};
    char *path = checkpoint_path(folder, state->step), *dir = checkpoint_folder(folder);
    rapt_code code = path && dir && list_entries(&l, set, adam)
                         ? file_make_dir(dir, err)
                         : rapt_fail(err, RAPT_NO_MEMORY, "%s: no memory for a checkpoint", folder);
    if (!code)
        code = write_file(path, &l, state, err);
    if (!code) {
        delete_undue(folder, plan.every);
        delete_old(folder, plan.keep);
    }
    free_entries(&l);
    free(path);
    free(dir);
    return code;
}

static rapt_code read_moment(const safetensors *file, const char *path, const char *which, const rapt_tensor *p,
                             rapt_real *to, rapt_error *err)
{
    char *name = moment_name(which, p->name);
    rapt_code code = name ? params_read(file, path, name, p, to, err)
                          : rapt_fail(err, RAPT_NO_MEMORY, "%s: no memory", path);
    free(name);
    return code;
}

static rapt_code read_tensors(const safetensors *file, const char *path, rapt_params *set, rapt_adam *adam,
                              rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < rapt_params_count(set) && !code; i++) {
        rapt_param *p = rapt_params_at(set, i);
        if (p->buffer)
            continue;
        code = params_read(file, path, p->value.name, &p->value, p->value.data, err);
        if (!code && rapt_adam_first_moment(adam, i))
            code = read_moment(file, path, "m", &p->value, rapt_adam_first_moment(adam, i), err);
        if (!code && rapt_adam_second_moment(adam, i))
            code = read_moment(file, path, "v", &p->value, rapt_adam_second_moment(adam, i), err);
    }
    return code;
}

/* Before the tensors, whose shapes would say less clearly that they are of something else. */
static rapt_code check_recipe(const char *folder, const checkpoint_state *s, uint64_t hash, rapt_error *err)
{
    if (s->recipe_hash == hash)
        return RAPT_OK;
    return rapt_fail(err, RAPT_VALUE, "%s: the checkpoint of step %" PRIu64 " belongs to another recipe, model or data (see its "
                     "recipe.yaml)", folder, s->step);
}

rapt_code checkpoint_load(const char *folder, uint64_t step, rapt_params *set, rapt_adam *adam,
                          checkpoint_state *state, rapt_error *err)
{
    safetensors *file = NULL;
    uint64_t hash = state->recipe_hash;
    char *path = checkpoint_path(folder, step);
    rapt_code code = path ? safetensors_open(path, &file, err)
                          : rapt_fail(err, RAPT_NO_MEMORY, "%s: no memory for a checkpoint", folder);
    if (!code)
        code = read_state(file, path, state, err);
    if (!code)
        code = check_recipe(folder, state, hash, err);
    if (!code)
        code = read_tensors(file, path, set, adam, err);
    if (!code)
        rapt_adam_set_steps(adam, state->step);
    safetensors_close(file);
    free(path);
    return code;
}
