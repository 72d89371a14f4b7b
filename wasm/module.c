/* wasm/module.c: the library as a module of WebAssembly: what JavaScript calls, with numbers and texts only. For wasm/rapt.mjs,
 * which is the other side. One run of training at a time; files are in the module's own memory (MEMFS), where JavaScript writes
 * data and reads models. Texts that are returned belong to the module until the next call. */
#include <emscripten.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rapt.h"

#define EXPORT EMSCRIPTEN_KEEPALIVE

/* What the last call has to say, and the run. */
static rapt_error failure;
static char *answer, *out_folder;
static rapt_recipe recipe;
static rapt_trainer *trainer;
static rapt_progress last; /* as of the last step */

static void keep_progress(void *context, const rapt_progress *progress)
{
    (void)context;
    last = *progress;
}

/* Why the last call failed. */
EXPORT const char *rapt_wasm_error(void)
{
    return failure.message;
}

/* The level of the kernels that is used: "relaxed", "simd128" or "scalar". */
EXPORT const char *rapt_wasm_level(void)
{
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1}, &failure);
    const char *name = t ? rapt_tape_isa(t) : NULL;
    rapt_tape_free(t);
    return name;
}

/* Frees the run; its folder stays. */
EXPORT void rapt_wasm_end(void)
{
    rapt_trainer_free(trainer);
    trainer = NULL;
    rapt_recipe_free(&recipe);
    memset(&recipe, 0, sizeof recipe);
    free(answer);
    free(out_folder);
    answer = out_folder = NULL;
}

/* Begins a run of the recipe (YAML), whose relative paths start from the root, into a new folder. 0, or -1: rapt_wasm_error. */
EXPORT int rapt_wasm_begin(const char *yaml, const char *folder)
{
    rapt_wasm_end();
    out_folder = strdup(folder); /* the run borrows it */
    if (!out_folder) {
        snprintf(failure.message, sizeof failure.message, "out of memory");
        return -1;
    }
    if (rapt_recipe_parse(yaml, strlen(yaml), "/", &recipe, &failure))
        return -1;
    rapt_train_options options = rapt_train_options_default();
    options.recipe = &recipe;
    options.out = out_folder;
    options.threads = 1;
    options.on_progress = keep_progress;
    trainer = rapt_trainer_new(&options, &failure);
    if (!trainer)
        return -1;
    rapt_trainer_progress(trainer, &last);
    return 0;
}

/* Makes a step. 1: there are more; 0: it was the last one; -1: rapt_wasm_error. */
EXPORT int rapt_wasm_step(void)
{
    if (!trainer || rapt_trainer_step(trainer, &failure))
        return -1;
    return !rapt_trainer_is_over(trainer);
}

/* Of the last step. The loss is the mean since the last report. */
EXPORT double rapt_wasm_steps_done(void)
{
    return (double)last.step;
}

EXPORT double rapt_wasm_loss(void)
{
    return last.loss;
}

EXPORT double rapt_wasm_validation_loss(void)
{
    return last.val_loss;
}

/* Writes the model of the last step into the folder, and the run goes on; or ends it. 0 or -1. */
EXPORT int rapt_wasm_save(void)
{
    return trainer && rapt_trainer_save(trainer, &failure) == RAPT_OK ? 0 : -1;
}

EXPORT int rapt_wasm_finish(void)
{
    return trainer && rapt_trainer_finish(trainer, &failure) == RAPT_OK ? 0 : -1;
}

static const rapt_model *model_now(void)
{
    return trainer ? rapt_trainer_model(trainer, &failure) : NULL;
}

/* The translation of a line by the model of the last step, or NULL. */
EXPORT const char *rapt_wasm_translate(const char *line, int beam)
{
    const rapt_model *model = model_now();
    rapt_translate_options options = rapt_translate_options_default();
    options.beam = beam;
    options.compute.threads = 1;
    rapt_translation out;
    if (!model || rapt_translate(model, &line, 1, &options, &out, &failure))
        return NULL;
    free(answer);
    answer = strdup(out.count ? out.hypotheses[0].text : "");
    rapt_translations_free(&out, 1);
    return answer;
}

/* A line explained by the model of the last step: JSON with all elements of the intermediates that the patterns name (separated
 * by spaces; "" names all), or with `page` the page in HTML. `target` "": the model's own translation. NULL: rapt_wasm_error. */
EXPORT const char *rapt_wasm_explain(const char *line, const char *target, const char *patterns, int page)
{
    enum { MOST = 32 };
    const rapt_model *model = model_now();
    const char *names[MOST];
    char text[1024];
    snprintf(text, sizeof text, "%s", patterns);
    rapt_explain_options options = rapt_explain_options_default();
    char *rest = text;
    for (char *name; options.name_count < MOST && (name = strtok_r(rest, " ", &rest));)
        names[options.name_count++] = name;
    options.names = names;
    options.threads = 1;
    if (*target)
        options.target = (rapt_text){target, strlen(target)};
    rapt_explanation *e = model ? rapt_explanation_new(model, line, strlen(line), &options, &failure) : NULL;
    if (!e)
        return NULL;
    rapt_explain_format format = rapt_explain_format_default();
    format.full = true;
    free(answer);
    answer = NULL;
    if (page)
        rapt_explanation_page(e, NULL, &answer, NULL, &failure);
    else
        rapt_explanation_json(e, &format, &answer, NULL, &failure);
    rapt_explanation_free(e);
    return answer;
}
