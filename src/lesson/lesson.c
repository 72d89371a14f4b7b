/* lesson/lesson.c: the run: begin, step, save. What it shows between steps: lesson_look.c. */
#include "lesson/lesson_parts.h"

#include "base/chars.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char OUT_OF_MEMORY[] = "{\"error\": \"out of memory\"}";

char *lesson_json(json_t *o)
{
    char *text = o ? json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(9)) : chars_copy(OUT_OF_MEMORY);
    json_decref(o);
    return text;
}

char *lesson_error(const rapt_error *err)
{
    return lesson_json(json_pack("{s:s}", "error", err->message));
}

lesson *lesson_new(void)
{
    lesson *l = calloc(1, sizeof *l);
    if (l)
        rapt_recipe_defaults(&l->recipe);
    return l;
}

void lesson_forget(lesson *l)
{
    rapt_explanation_free(l->seen);
    rapt_explanation_free(l->whole);
    rapt_model_free(l->less);
    l->seen = l->whole = NULL;
    l->less = NULL;
}

static void lesson_end(lesson *l)
{
    lesson_forget(l);
    rapt_trainer_free(l->trainer);
    rapt_recipe_free(&l->recipe);
    free(l->out);
    free(l->off);
    l->trainer = NULL;
    l->out = l->off = NULL;
}

void lesson_free(lesson *l)
{
    if (l)
        lesson_end(l);
    free(l);
}

const rapt_model *lesson_model(lesson *l, rapt_error *err)
{
    if (l->trainer)
        return rapt_trainer_model(l->trainer, err);
    rapt_fail(err, RAPT_ERR_VALUE, "there is no training run");
    return NULL;
}

static void lesson_keep_plan(void *context, const rapt_memory_plan *plan)
{
    ((lesson *)context)->plan = *plan;
}

static rapt_code lesson_begin(lesson *l, const char *recipe, const char *folder, const char *out, rapt_error *err)
{
    rapt_code code = rapt_recipe_parse(recipe, strlen(recipe), folder, &l->recipe, err);
    if (!code && l->recipe.task != RAPT_TASK_TRANSLATION)
        code = rapt_fail(err, RAPT_ERR_VALUE, "the lesson is about translators: task must be translation");
    if (!code)
        code = rapt_recipe_check(&l->recipe, "recipe", err);
    l->out = code ? NULL : chars_copy(out);
    if (!code && !l->out)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory");
    if (code)
        return code;
    rapt_train_options o = rapt_train_options_default();
    o.recipe = &l->recipe;
    o.out = l->out;
    o.threads = 1;
    o.on_plan = lesson_keep_plan;
    o.context = l;
    l->trainer = rapt_trainer_new(&o, err);
    return l->trainer ? RAPT_OK : err->code;
}

char *lesson_start(lesson *l, const char *recipe, const char *folder, const char *out)
{
    rapt_error err = {0};
    lesson_end(l);
    if (lesson_begin(l, recipe, folder, out, &err)) {
        lesson_end(l);
        return lesson_error(&err);
    }
    const rapt_memory_plan *p = &l->plan;
    rapt_tape *tape = rapt_tape_new(&(rapt_compute){.threads = 1}, &err);
    const char *level = tape ? rapt_tape_isa(tape) : "";
    rapt_tape_free(tape);
    rapt_progress at;
    rapt_trainer_progress(l->trainer, &at);
    return lesson_json(json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:s}", "steps", (json_int_t)at.steps, "parameters",
                                 (json_int_t)p->parameter_count, "source_vocab", (json_int_t)p->source_vocab, "target_vocab",
                                 (json_int_t)p->target_vocab, "pairs", (json_int_t)p->examples, "validation",
                                 (json_int_t)p->validation_examples, "level", level));
}

json_t *lesson_number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

char *lesson_step(lesson *l)
{
    rapt_error err = {0};
    rapt_progress p;
    lesson_forget(l); /* what was seen is of the model as it was */
    if (!lesson_model(l, &err) || rapt_trainer_step(l->trainer, &err))
        return lesson_error(&err);
    rapt_trainer_progress(l->trainer, &p);
    return lesson_json(json_pack("{s:I, s:o, s:o, s:f, s:f, s:f, s:b}", "step", (json_int_t)p.step, "loss",
                                 lesson_number(p.step_loss), "val_loss", lesson_number(p.val_loss), "lr", p.lr, "grad_norm",
                                 p.grad_norm, "epochs", p.epochs_done, "over", (int)rapt_trainer_is_over(l->trainer)));
}

char *lesson_save(lesson *l)
{
    rapt_error err = {0};
    rapt_progress p = {0};
    if (!lesson_model(l, &err))
        return lesson_error(&err);
    rapt_trainer_progress(l->trainer, &p);
    if (p.step == 0)
        rapt_fail(&err, RAPT_ERR_VALUE, "a model can be saved after the first step");
    else
        rapt_trainer_save(l->trainer, &err);
    return err.code ? lesson_error(&err) : lesson_json(json_object());
}
