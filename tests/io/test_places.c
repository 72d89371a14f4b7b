/* tests/io/test_places.c: every table that says which tensor holds which parameter, in both directions: what is written with it
 * is read with it, to the bit, for the tiny models of all families and for models of rapt; and each row of each table is used.
 * Whether names and numbers are right is compared with other programs in test_hub.c, test_gguf_model.c and test_export.c.
 * labels: raced-late */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "io/export/export_class.h"
#include "io/export/export_kinds.h"
#include "io/gguf/gguf_folder.h"
#include "io/hub/hub_family.h"
#include "io/hub/hub_weights.h"
#include "io/model_folder.h"
#include "io/place/place_tensors.h"
#include "loading.h"
#include "rapt/embed.h"

#define GOLDEN "tests/golden/"

/* ---- tables and their rows -------------------------------------------------------------------------------------- */

enum { TABLES = 40, ROWS = 64 };

/* The tables that were tried, and how often each row was read. */
static struct {
    const place_table *table;
    size_t hits[ROWS];
} tried[TABLES];
static size_t tried_count;

static size_t *hits_of(const place_table *table)
{
    size_t i = 0;
    while (i < tried_count && tried[i].table != table)
        i++;
    assert_in_range(i, 0, TABLES - 1);
    tried_count += i == tried_count;
    tried[i].table = table;
    return tried[i].hits;
}

static size_t row_count(const place_table *table)
{
    size_t count = 0;
    while (table->rows[count].ours)
        count++;
    assert_in_range(count, 1, ROWS - 1);
    return count;
}

/* ---- models ----------------------------------------------------------------------------------------------------- */

/* The configuration of one of the three kinds of network. */
typedef struct tiny {
    const char *name;
    rapt_task task;
    rapt_lm_config lm;
    rapt_transformer_config pair;
} tiny;

/* A network of a configuration, with its parameters. */
typedef struct tiny_net {
    rapt_lm *lm;
    rapt_transformer *pair;
    rapt_encoder_only *encoder;
    rapt_params *params;
    const rapt_block_config *block;
} tiny_net;

static tiny_net net_of(const tiny *t)
{
    tiny_net n = {0};
    rapt_error err = {0};
    if (t->task == RAPT_TASK_LANGUAGE_MODEL) {
        n.lm = rapt_lm_new(&t->lm, 3, &err);
        must(err.code, &err);
        n.params = n.lm->params;
        n.block = &n.lm->config.block;
    } else if (t->task == RAPT_TASK_TRANSLATION) {
        n.pair = rapt_transformer_new(&t->pair, 3, &err);
        must(err.code, &err);
        n.params = n.pair->params;
        n.block = &n.pair->config.block;
    } else {
        n.encoder = rapt_encoder_only_new(&t->pair, 3, &err);
        must(err.code, &err);
        n.params = n.encoder->params;
        n.block = &n.encoder->config.block;
    }
    return n;
}

static void net_free(tiny_net n)
{
    rapt_lm_free(n.lm);
    rapt_transformer_free(n.pair);
    rapt_encoder_only_free(n.encoder);
}

/* Different numbers in all parameters, computed ones included. They are multiples of 2^-22 below 1, so that 1 can be added and
 * taken away again. */
static void fill(const rapt_params *set, uint32_t state)
{
    for (size_t i = 0; i < rapt_params_count(set); i++) {
        rapt_param *p = rapt_params_at(set, i);
        for (size_t k = 0; k < rapt_tensor_size(&p->value); k++) {
            state = state * 1664525 + 1013904223;
            p->value.data[k] = (rapt_real)((double)(state >> 10) / (1 << 22) - 0.5);
        }
    }
}

/* ---- there and back --------------------------------------------------------------------------------------------- */

static void write_with(const tiny_net *n, const place_table *table, bool tied, const char *name)
{
    rapt_error err = {0};
    place_tensors set = {.model = {table, name, n->params, n->block}, .tied = tied, .path = folder_path};
    place_tensors_begin(&set);
    place_tensors_add(&set);
    if (place_tensors_check(&set, &err))
        fail_msg("%s: %s", name, err.message);
    must(place_tensors_save(&set, folder_in("model.safetensors"), NULL, &err), &err);
    place_tensors_free(&set);
}

/* Reads the file that was written into another network, compares all that was read, and counts the rows. */
static void read_back(const tiny *t, const tiny_net *n, const place_table *table)
{
    rapt_error err = {0};
    weights *w;
    tiny_net other = net_of(t);
    const size_t count = rapt_params_count(n->params);
    const place_row **rows = calloc(count, sizeof *rows);
    fill(other.params, 999);
    must(weights_open(folder_in("model.safetensors"), &w, &err), &err);
    const place_model model = {table, t->name, other.params, other.block};
    if (hub_fill(other.params, &model, w, &(model_source){.folder = folder_path}, rows, &err))
        fail_msg("%s: %s", t->name, err.message);
    for (size_t i = 0; i < count; i++) {
        const rapt_tensor *ours = &rapt_params_at(n->params, i)->value, *theirs = &rapt_params_at(other.params, i)->value;
        if (!rows[i])
            continue;
        hits_of(table)[rows[i] - table->rows]++;
        if (memcmp(ours->data, theirs->data, rapt_tensor_size(ours) * sizeof *ours->data) != 0)
            fail_msg("%s: %s has other numbers than were written as %s", t->name, ours->name, rows[i]->theirs);
    }
    free(rows);
    weights_close(w);
    net_free(other);
}

/* Whether a row may hold a parameter of the network. */
static bool row_applies(const tiny_net *n, const place_table *table, const place_row *row)
{
    const place_model model = {table, "", n->params, n->block};
    place_match m;
    bool any = false;
    for (size_t i = 0; i < rapt_params_count(n->params) && !any; i++)
        for (const place_row *r = NULL; (r = place_next(&model, r, rapt_params_at(n->params, i)->value.name, &m)) != NULL;)
            any = any || r == row;
    return any;
}

/* Writes a file in which the parameter of a row is in that row's tensor alone; reads it as any. */
static void try_row(const tiny *t, const tiny_net *n, const place_table *table, size_t row, bool tied)
{
    place_row rows[ROWS] = {table->rows[row]};
    place_table first = *table;
    first.rows = rows;
    rows[0].how &= ~(unsigned)(PLACE_READ | PLACE_TIED);
    for (size_t i = 0, at = 1; table->rows[i].ours; i++)
        if (i != row)
            rows[at++] = table->rows[i];
    for (size_t i = 0; rows[i].ours; i++)
        rows[i].how &= ~(unsigned)PLACE_TWICE;
    write_with(n, &first, tied, t->name);
    read_back(t, n, table);
}

static void round_trip(const tiny *t, const place_table *table, bool tied)
{
    tiny_net n = net_of(t);
    fill(n.params, 1);
    write_with(&n, table, tied, t->name);
    read_back(t, &n, table);
    for (size_t i = 0; i < row_count(table); i++)
        if (hits_of(table)[i] == 0 && row_applies(&n, table, &table->rows[i]))
            try_row(t, &n, table, i, tied);
    net_free(n);
}

/* ---- the models of families ------------------------------------------------------------------------------------- */

static void try_family(tiny t, const hub_family *family)
{
    const bool pair = t.task == RAPT_TASK_TRANSLATION, gpt = strcmp(family->type, "gpt2") == 0;
    const gguf_architecture *gguf = gguf_architecture_for(pair && family->tied_by_files ? "t5" : family->type);
    const bool as_ctranslate2 = gpt || strcmp(family->type, "llama") == 0;
    round_trip(&t, family->places, t.pair.tied);
    if (gguf && gguf->places->biased) { /* a model that is read from such a file has all biases */
        t.lm.block.bias = true;
        t.lm.block.no_o_bias = t.lm.block.no_ffn_bias = false;
    }
    if (gguf)
        round_trip(&t, gguf->places, t.pair.tied);
    if (as_ctranslate2)
        round_trip(&t, &EXPORT_CTRANSLATE2_LM, false);
}

/* Also with the other choice of which matrices are one. */
static void try_folder(const char *folder)
{
    rapt_error err = {0};
    rapt_model *m = load_for(folder, true, &err);
    if (!m)
        fail_msg("%s", err.message);
    tiny t = {.name = folder, .task = m->task};
    if (m->task == RAPT_TASK_LANGUAGE_MODEL)
        t.lm = m->language.net->config;
    else
        t.pair = m->task == RAPT_TASK_TRANSLATION ? m->translation.net->config : m->encoder.net->config;
    const hub_family *family = hub_family_of(m->family);
    try_family(t, family);
    t.lm.tied = !t.lm.tied;
    t.pair.tied = !t.pair.tied;
    if (m->task != RAPT_TASK_ENCODER)
        try_family(t, family);
    t.pair.tied_output = true;
    if (m->task == RAPT_TASK_TRANSLATION && !t.pair.tied && !t.pair.tied_embeddings)
        try_family(t, family);
    rapt_model_free(m);
}

static void try_folders(const char *under)
{
    char path[512];
    DIR *d = opendir(under);
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s/config.json", under, e->d_name);
        if (e->d_name[0] == '.' || access(path, R_OK) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", under, e->d_name);
        try_folder(path);
    }
    closedir(d);
}

static void families_are_written_and_read(void **state)
{
    (void)state;
    try_folders(GOLDEN "hub");
    try_folders(GOLDEN "hub_translation");
    try_folders(GOLDEN "hub_encoder");
    try_folders(GOLDEN "hub_rerank");
}

/* ---- models of rapt --------------------------------------------------------------------------------------------- */

static void try_own(rapt_lm_config c)
{
    rapt_error err = {0};
    const export_lm_class *of = export_lm_class_of(&c, "a model of rapt", &err);
    must(err.code, &err);
    const tiny t = {.name = of->family->type, .task = RAPT_TASK_LANGUAGE_MODEL, .lm = c};
    round_trip(&t, of->family->places, false);
    round_trip(&t, &EXPORT_CTRANSLATE2_LM, false);
    const gguf_architecture *gguf = gguf_architecture_for(of->family->type);
    if (gguf)
        round_trip(&t, gguf->places, false);
}

static void language_models_are_written_and_read(void **state)
{
    static const rapt_positions_kind positions[] = {RAPT_POSITIONS_LEARNED, RAPT_POSITIONS_SINUSOIDAL, RAPT_POSITIONS_ROTARY};
    (void)state;
    rapt_lm_config c = {.vocab = 37, .layers = 2, .context = 12,
                        .block = {.d_model = 24, .heads = 3, .kv_heads = 3, .ffn = 96, .bias = true,
                                  .ffn_kind = RAPT_FFN_GELU_TANH, .norm_place = RAPT_NORM_PLACE_PRE}};
    for (size_t i = 0; i < 3; i++)
        for (int tied = 0; tied < 2; tied++) {
            c.positions = positions[i];
            c.tied = tied;
            try_own(c);
            rapt_lm_config post = c;
            post.block.norm_place = RAPT_NORM_PLACE_POST;
            if (c.positions != RAPT_POSITIONS_ROTARY)
                try_own(post);
        }
    c.block.norm_kind = RAPT_NORM_KIND_RMS;
    c.block.ffn_kind = RAPT_FFN_SWIGLU;
    c.block.kv_heads = 1;
    try_own(c);
    /* with a bias of the output, which CTranslate2 has alone */
    c.tied = false;
    c.output_bias = true;
    round_trip(&(tiny){.name = "output_bias", .task = RAPT_TASK_LANGUAGE_MODEL, .lm = c}, &EXPORT_CTRANSLATE2_LM, false);
}

static void translators_are_written_and_read(void **state)
{
    static const rapt_positions_kind positions[] = {RAPT_POSITIONS_LEARNED, RAPT_POSITIONS_SINUSOIDAL};
    (void)state;
    for (size_t i = 0; i < 8; i++) {
        tiny t = {.name = "a translator", .task = RAPT_TASK_TRANSLATION};
        t.pair = (rapt_transformer_config){.source_vocab = 37, .target_vocab = 37, .layers = 2, .max_positions = 20,
                                           .tied = i & 1, .positions = positions[i >> 1 & 1],
                                           .block = {.d_model = 24, .heads = 3, .ffn = 40, .bias = true,
                                                     .norm_place = RAPT_NORM_PLACE_PRE}};
        if (i & 4)
            t.pair.block.ffn_kind = RAPT_FFN_SWIGLU;
        round_trip(&t, &EXPORT_CTRANSLATE2_TRANSLATION, t.pair.tied);
    }
}

/* ---- all of them ------------------------------------------------------------------------------------------------ */

static void is_tried(const place_table *table, const char *name)
{
    for (size_t i = 0; i < tried_count; i++)
        if (tried[i].table == table)
            return;
    fail_msg("%s: no model of its table was written and read", name);
}

/* Runs after the others. */
static void every_row_is_used(void **state)
{
    hub_type_list types = hub_family_list(false);
    char list[1024], *rest = types.text;
    (void)state;
    for (char *type; (type = strsep(&rest, ", ")) != NULL;)
        if (*type)
            is_tried(hub_family_of(type)->places, type);
    gguf_architecture_list(rest = list, sizeof list);
    for (char *name; (name = strsep(&rest, ", ")) != NULL;)
        if (*name)
            is_tried(gguf_architecture_of(name)->places, name);
    is_tried(&EXPORT_CTRANSLATE2_LM, "CTranslate2");
    for (size_t i = 0; i < tried_count; i++)
        for (size_t k = 0; k < row_count(tried[i].table); k++)
            if (tried[i].hits[k] == 0)
                fail_msg("no model has the row {\"%s\", \"%s\"}", tried[i].table->rows[k].ours, tried[i].table->rows[k].theirs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families_are_written_and_read),
        cmocka_unit_test(language_models_are_written_and_read),
        cmocka_unit_test(translators_are_written_and_read),
        cmocka_unit_test(every_row_is_used),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
