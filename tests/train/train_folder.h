/* tests/train/train_folder.h: training runs of tiny models in a folder of their own, and what they leave there, for the
 * tests of this folder. To be included after cmocka.h. It trains through the library, as a program would. */
#ifndef TESTS_TRAIN_TRAIN_FOLDER_H
#define TESTS_TRAIN_TRAIN_FOLDER_H

#include "rapt/io.h"
#include "rapt/train.h"

#include "base/file.h"
#include "folder.h"
#include "train_input.h"

#include <jansson.h>
#include <string.h>

/* ---- files: each test stands in a folder, which is empty at first ------------------------------------------------- */

static inline void put(const char *path, const char *text)
{
    assert_int_equal(file_write_atomic(path, text, strlen(text), NULL), RAPT_OK);
}

/* Not inlined: gcc 12 takes what points into the text for a pointer to `data` and warns of it (-Wdangling-pointer). */
__attribute__((noinline, unused)) static char *get(const char *folder, const char *name, size_t *size)
{
    char *path = file_join(folder, name), *data;
    rapt_error err = {0};
    file_read(path, (size_t)1 << 28, &data, size, &err);
    assert_string_equal(err.message, "");
    free(path);
    return data;
}

/* ---- runs ------------------------------------------------------------------------------------------------------- */

/* A language model of text.txt whose steps take a millisecond; free it. */
static inline rapt_recipe lm_recipe(const char *changes)
{
    rapt_recipe r;
    rapt_recipe_defaults(&r);
    set_all(&r, "task=language_model seed=7 data.text=text.txt data.validation_fraction=0.1 tokenizer.type=characters "
                "model.layers=1 model.d_model=16 model.heads=2 model.ffn=24 model.context=8 model.init=pytorch "
                "model.dropout=0 train.steps=24 train.batch=2 train.lr=0.01 train.report_every=5 train.checkpoint_every=6 "
                "model.norm_place=post model.norm_kind=layer model.ffn_kind=relu model.bias=true model.scale_embedding=true "
                "model.tied=false model.positions=sinusoidal train.beta2=0.999 train.weight_decay=0 train.schedule=constant "
                "train.warmup=0");
    set_all(&r, changes);
    return r;
}

static inline rapt_code run(const rapt_recipe *r, rapt_train_options o, rapt_error *err)
{
    rapt_error reason = {0};
    rapt_recipe_check(r, "recipe", &reason);
    assert_string_equal(reason.message, "");
    o.size = sizeof o;
    o.recipe = r;
    return rapt_train(&o, err);
}

static inline void train(const char *changes, rapt_train_options o)
{
    rapt_recipe r = lm_recipe(changes);
    rapt_error err = {0};
    rapt_code code = run(&r, o, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(code, RAPT_OK);
    rapt_recipe_free(&r);
}

/* An on_plan. */
static inline void keep_plan(void *context, const rapt_memory_plan *plan)
{
    *(rapt_memory_plan *)context = *plan;
}

/* The memory plan of a run with these changes of lm_recipe. */
static inline rapt_memory_plan plan_of(const char *changes)
{
    rapt_memory_plan plan = {0};
    train(changes, (rapt_train_options){.out = "planned", .max_steps = 1, .on_plan = keep_plan, .context = &plan});
    assert_int_equal(system("rm -rf planned"), 0);
    return plan;
}

/* ---- what they leave --------------------------------------------------------------------------------------------- */

static inline void assert_same_bytes(const char *a, const char *b, const char *name, size_t skip_a, size_t skip_b)
{
    size_t size_a, size_b;
    char *x = get(a, name, &size_a), *y = get(b, name, &size_b);
    if (size_a - skip_a != size_b - skip_b || memcmp(x + skip_a, y + skip_b, size_a - skip_a) != 0)
        fail_msg("%s differs in %s and %s", name, a, b);
    free(x);
    free(y);
}

/* Bytes of a safetensors file before its numbers. */
static inline size_t header_size(const char *folder, const char *name)
{
    size_t size;
    uint64_t header;
    char *data = get(folder, name, &size);
    memcpy(&header, data, sizeof header);
    free(data);
    return sizeof header + (size_t)header;
}

/* The last line of train.jsonl that is no partial one; json_decref it. */
static inline json_t *last_report(const char *folder)
{
    size_t size;
    char *log = get(folder, "train.jsonl", &size), *rest = log;
    json_t *last = NULL;
    for (char *line; (line = strsep(&rest, "\n"));) {
        json_t *o = json_loads(line, 0, NULL);
        if (o && !json_object_get(o, "partial")) {
            json_decref(last);
            last = json_incref(o);
        }
        json_decref(o);
    }
    free(log);
    assert_non_null(last);
    return last;
}

static inline double last_figure(const char *folder, const char *key)
{
    json_t *o = last_report(folder);
    double value = json_number_value(json_object_get(o, key));
    json_decref(o);
    return value;
}

/* The log without what time decides. */
static inline char *timeless_log(const char *folder)
{
    size_t size;
    char *log = get(folder, "train.jsonl", &size), *rest = log, *out = calloc(size + 1, 1);
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        json_t *o = json_loads(line, 0, NULL);
        assert_non_null(o);
        assert_int_equal(json_object_del(o, "seconds"), 0);
        assert_int_equal(json_object_del(o, "tokens_per_s"), 0);
        json_object_del(o, "waited"); /* of several processes */
        char *text = json_dumps(o, JSON_REAL_PRECISION(9)); /* as the log has them: no longer than there */
        strcat(strcat(out, text), "\n");
        free(text);
        json_decref(o);
    }
    free(log);
    return out;
}

static inline void assert_same_log(const char *a, const char *b)
{
    char *x = timeless_log(a), *y = timeless_log(b);
    assert_true(strlen(x) > 0);
    assert_string_equal(x, y);
    free(x);
    free(y);
}

/* Checkpoints have the seconds in their headers; the numbers behind those are parameters and moments. */
static inline void assert_same_checkpoint(const char *a, const char *b, unsigned step)
{
    char name[64];
    snprintf(name, sizeof name, "checkpoints/step-%08u.safetensors", step);
    assert_same_bytes(a, b, name, header_size(a, name), header_size(b, name));
}

/* The recipe of a folder without the comments below it, which say where the data are from the folder. */
static inline char *bare_recipe(const char *folder)
{
    size_t size;
    char *text = get(folder, "recipe.yaml", &size);
    char *comments = strstr(text, "\n# ");
    if (comments)
        *comments = '\0';
    return text;
}

static inline void assert_same_recipe(const char *a, const char *b)
{
    char *x = bare_recipe(a), *y = bare_recipe(b);
    assert_string_equal(x, y);
    free(x);
    free(y);
}

static inline void assert_same_model(const char *a, const char *b)
{
    static const char *const names[] = {"model.safetensors", "best/model.safetensors", "config.json", "tokenizer.json",
                                        "text.tokens"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_same_bytes(a, b, names[i], 0, 0);
    assert_same_recipe(a, b);
    assert_same_log(a, b);
    assert_int_equal(folder_entries(a), folder_entries(b));
}

/* The same numbers, whatever run they are of. */
static inline bool same_parameters(const char *a, const char *b)
{
    static const char name[] = "model.safetensors";
    size_t size_a, size_b, skip_a = header_size(a, name), skip_b = header_size(b, name);
    char *x = get(a, name, &size_a), *y = get(b, name, &size_b);
    bool same = size_a - skip_a == size_b - skip_b && memcmp(x + skip_a, y + skip_b, size_a - skip_a) == 0;
    free(x);
    free(y);
    return same;
}

#endif
