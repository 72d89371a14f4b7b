/* cli/info_weights.c: `rapt info` for a Hugging Face folder, or for one file of tensors: the contents of its files, and its own
 * description. For cmd_info.c. No model runs, and hardly any values are read. */
#include "cli/cmd_info.h"
#include "cli/info_hub.h"
#include "cli/info_types.h"

#include "base/file.h"
#include "base/quote.h"
#include "cli/cli.h"
#include "cli/say.h"
#include "io/gguf/gguf_folder.h"
#include "io/json_file.h"
#include "io/weights/model_card.h"
#include "io/weights/weights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INFO_MAX_CONFIG ((size_t)1 << 20)

/* A folder's description besides its tensors: NULL or "" for what is missing, or if it is a file. */
typedef struct foreign_model {
    json_t *config;
    const char *type, *architecture; /* from config.json */
    char license[MODEL_CARD_LICENSE];
    hub_summary summary;
    const place_table *places; /* from a GGUF file */
    char refusal[512]; /* why rapt does not run it; "": it does */
    weights *tensors;
} foreign_model;

/* config.json of a folder that is not rapt's: it has a model_type, while rapt's has a format. NULL for other folders, or if it
 * cannot be read. */
static json_t *foreign_config(const char *folder)
{
    char *path;
    bool is_folder;
    if (file_is_folder(folder, &is_folder, NULL) || !is_folder || file_path(folder, "config.json", &path, NULL))
        return NULL;
    json_t *config = json_file_read(path, INFO_MAX_CONFIG, NULL);
    free(path);
    if (hub_model_is(config))
        return config;
    json_decref(config);
    return NULL;
}

bool info_weights_is_foreign(const char *path)
{
    json_t *config = foreign_config(path);
    bool is = config || weights_is_file(path);
    json_decref(config);
    return is;
}

/* The license as a GGUF file names it. */
static void read_gguf_license(const char *path, char license[MODEL_CARD_LICENSE])
{
    gguf_file *f;
    if (gguf_open(path, &f, NULL))
        return;
    const gguf_value *value = gguf_find(f, "general.license");
    const bool is_text = value && value->type == GGUF_TEXT && !value->is_array;
    const gguf_text text = is_text ? gguf_text_first(value) : (gguf_text){"", 0};
    snprintf(license, MODEL_CARD_LICENSE, "%.*s", text.size < MODEL_CARD_LICENSE ? (int)text.size : 0, text.data);
    quote_clean(license);
    gguf_close(f);
}

static rapt_code foreign_open(foreign_model *m, const char *path, rapt_error *err)
{
    *m = (foreign_model){0};
    rapt_error why = {0};
    m->config = gguf_is_file(path) ? gguf_folder_config(path, &m->places, &why) : foreign_config(path);
    m->type = json_string_value(json_object_get(m->config, "model_type"));
    m->architecture = json_string_value(json_array_get(json_object_get(m->config, "architectures"), 0));
    rapt_code code = weights_open(path, &m->tensors, err);
    if (!code && m->config) {
        char name[] = "config.json";
        const model_source from = {.folder = path, .config = m->config, .config_path = name, .places = m->places};
        hub_model_check(&from, m->tensors, &m->summary, &why);
        if (m->places)
            read_gguf_license(path, m->license);
        else
            model_card_license(path, m->license);
    }
    snprintf(m->refusal, sizeof m->refusal, "%s", why.message);
    return code;
}

static void foreign_close(foreign_model *m)
{
    weights_close(m->tensors);
    rapt_model_free(m->summary.model);
    json_decref(m->config);
}

/* ---- as JSON ---------------------------------------------------------------------------------------------------------- */

static json_t *foreign_tensor_json(const weights_tensor *t)
{
    json_t *shape = json_array();
    for (int i = 0; shape && i < t->ndim; i++)
        json_array_append_new(shape, json_integer((json_int_t)t->shape[i]));
    return json_pack("{s:s, s:s, s:o}", "name", t->name, "dtype", weights_tensor_type(t), "shape", shape);
}

static json_t *foreign_tensors_json(const weights *w, bool wanted)
{
    json_t *list = wanted ? json_array() : NULL;
    for (size_t i = 0; list && i < weights_count(w); i++)
        json_array_append_new(list, foreign_tensor_json(weights_at(w, i)));
    return list;
}

static json_t *foreign_json(const foreign_model *m, bool tensors)
{
    const weights *w = m->tensors;
    const char *license = m->license[0] ? m->license : NULL;
    json_t *o = json_pack("{s:b, s:s*, s:s*, s:s*, s:s*, s:o, s:I, s:I, s:o, s:o*}", "runs", m->config && !m->refusal[0],
                     "model_type", m->type, "architecture", m->architecture, "refused", m->refusal[0] ? m->refusal : NULL,
                     "license", license, "files", info_types_files_json(w), "tensor_count", (json_int_t)weights_count(w),
                     "parameters", (json_int_t)weights_parameters(w), "dtypes", info_types_json(w), "tensors",
                          foreign_tensors_json(w, tensors));
    if (o && m->summary.model && !info_hub_add_json(&m->summary, o)) {
        json_decref(o);
        o = NULL;
    }
    return o;
}

/* ---- as text ---------------------------------------------------------------------------------------------------------- */

static void print_model_type(const foreign_model *m)
{
    if (m->type) {
        printf("model         %s", quote(m->type).text);
        if (m->architecture)
            printf(" (%s)", quote(m->architecture).text);
        if (!m->refusal[0])
            printf(": %s runs such models", m->summary.program);
        puts("");
    }
    if (m->refusal[0])
        printf("not run       %s\n", m->refusal);
    if (m->type)
        printf("license       %s\n", m->license[0] ? m->license : m->places ? "not stated" : "not stated in README.md");
}

static void list_foreign_tensors(const weights *w)
{
    char shape[WEIGHTS_SHAPE_TEXT];
    for (size_t i = 0; i < weights_count(w); i++) {
        const weights_tensor *t = weights_at(w, i);
        printf("%-60s %-4s %s\n", quote(t->name).text, weights_tensor_type(t),
               weights_shape_text(t->shape, t->ndim, shape));
    }
}

static void print_foreign(const foreign_model *m, bool tensors)
{
    print_model_type(m);
    info_types_print_files(m->tensors);
    printf("tensors       %zu\n", weights_count(m->tensors));
    printf("parameters    %zu\n", weights_parameters(m->tensors));
    info_types_print(m->tensors);
    if (m->summary.model)
        info_hub_print(&m->summary);
    if (tensors)
        list_foreign_tensors(m->tensors);
}

int info_weights(const info_arguments *a)
{
    rapt_error err = {0};
    foreign_model m;
    int status = 0;
    rapt_code code = foreign_open(&m, a->model, &err);
    if (!code && weights_note(m.tensors))
        cli_say("rapt: note: %s\n", weights_note(m.tensors));
    if (code)
        status = cli_fail(&err);
    else if (a->json)
        status = info_print_json(foreign_json(&m, a->tensors));
    else
        print_foreign(&m, a->tensors);
    foreign_close(&m);
    return status;
}
