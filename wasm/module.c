/* wasm/module.c: the library as a module of WebAssembly: what JavaScript calls, with numbers and texts only; wasm/steps.mjs
 * shows how. One run of training at a time; files are in the module's own memory (MEMFS), where JavaScript writes data and reads
 * models. Texts that are returned belong to the module until the next call. */
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

/* What an earlier call has said is forgotten: an error keeps the first reason that it gets. */
static rapt_error *begin_call(void)
{
    failure = (rapt_error){0};
    return &failure;
}

/* Begins a call that needs the run. NULL: there is none, which is the reason. */
static rapt_trainer *run_now(void)
{
    begin_call();
    if (!trainer)
        rapt_fail(&failure, RAPT_ERR_VALUE, "there is no training run");
    return trainer;
}

/* Why the last call failed; "" after one that did not. */
EXPORT const char *rapt_wasm_error(void)
{
    return failure.message;
}

/* The level of the kernels that is used: "relaxed", "simd128" or "scalar". */
EXPORT const char *rapt_wasm_level(void)
{
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1}, begin_call());
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
    begin_call();
    out_folder = strdup(folder); /* the run borrows it */
    if (!out_folder)
        rapt_fail(&failure, RAPT_ERR_MEMORY, "out of memory");
    if (!out_folder || rapt_recipe_parse(yaml, strlen(yaml), "/", &recipe, &failure))
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
    if (!run_now() || rapt_trainer_step(trainer, &failure))
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

/* Writes the model of the last step into the folder, which can be continued; or ends the run. 0 or -1. */
EXPORT int rapt_wasm_save(void)
{
    return run_now() && rapt_trainer_save(trainer, &failure) == RAPT_OK ? 0 : -1;
}

EXPORT int rapt_wasm_finish(void)
{
    return run_now() && rapt_trainer_finish(trainer, &failure) == RAPT_OK ? 0 : -1;
}

static const rapt_model *model_now(void)
{
    return run_now() ? rapt_trainer_model(trainer, &failure) : NULL;
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

enum { MOST_PATTERNS = 32 };

/* Cuts `text` at its spaces into at most MOST_PATTERNS names. */
static rapt_code cut_patterns(char *text, const char *names[MOST_PATTERNS], size_t *count)
{
    char *rest = text;
    *count = 0;
    for (char *name; (name = strtok_r(rest, " ", &rest));) {
        if (*count == MOST_PATTERNS)
            return rapt_fail(&failure, RAPT_ERR_VALUE, "more than %d patterns", MOST_PATTERNS);
        names[(*count)++] = name;
    }
    return RAPT_OK;
}

static char *explanation_text(const rapt_explanation *e, bool page)
{
    rapt_explain_format format = rapt_explain_format_default();
    char *text = NULL;
    format.full = true;
    if (page)
        rapt_explanation_page(e, NULL, &text, NULL, &failure);
    else
        rapt_explanation_json(e, &format, &text, NULL, &failure);
    return text;
}

/* A line explained by the model of the last step: JSON with all elements of the intermediates that the patterns name (at most 32,
 * separated by spaces; "" names all), or with `page` the page in HTML. `target` "": the model's own translation. NULL:
 * rapt_wasm_error. */
EXPORT const char *rapt_wasm_explain(const char *line, const char *target, const char *patterns, int page)
{
    const rapt_model *model = model_now();
    const char *names[MOST_PATTERNS];
    rapt_explain_options options = rapt_explain_options_default();
    options.names = names;
    options.threads = 1;
    options.target = rapt_text_of(*target ? target : NULL);
    free(answer);
    answer = NULL;
    char *text = strdup(patterns);
    if (!text)
        rapt_fail(&failure, RAPT_ERR_MEMORY, "out of memory");
    rapt_explanation *e = NULL;
    if (model && text && cut_patterns(text, names, &options.name_count) == RAPT_OK)
        e = rapt_explanation_new(model, line, strlen(line), &options, &failure);
    if (e)
        answer = explanation_text(e, page);
    rapt_explanation_free(e);
    free(text);
    return answer;
}
