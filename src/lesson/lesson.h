/* lesson/lesson.h: a translator that trains while somebody looks into it: the part of the lesson's page (page/) that is computed.
 * The page calls these functions in a worker, compiled to WebAssembly. Those that return a text return JSON, which the caller
 * frees: an object, {"error": "reason"} where they fail, or NULL when out of memory. Only lesson_page returns HTML instead. Texts
 * that they get are UTF-8. */
#ifndef LESSON_LESSON_H
#define LESSON_LESSON_H

typedef struct lesson lesson;

/* NULL: out of memory. */
lesson *lesson_new(void);
/* NULL is fine. */
void lesson_free(lesson *l);

/* Begins a run: `recipe` is the text of a recipe for a translator, whose relative paths start from `folder`; `out` is the model
 * folder that it will write. The run before ends, unsaved. {"steps", "parameters", "source_vocab", "target_vocab", "pairs",
 * "validation", "level"}, the last the name of the kernels. After a failure there is no run. */
char *lesson_start(lesson *l, const char *recipe, const char *folder, const char *out);
/* Makes a step. {"step", "loss", "val_loss", "lr", "grad_norm", "epochs", "over"}: losses in nats per target token; val_loss, of
 * the last report, is null before the first one. After the last step of a run it makes none, and tells the last one again. */
char *lesson_step(lesson *l);
/* Writes model.safetensors, and whatever else a model folder has, into `out`: what `rapt train --max-steps` leaves after this
 * step. {}. Fails before the first step. */
char *lesson_save(lesson *l);

/* Switches off the heads with these names, blanks between ("decoder.0.cross_attention.1"), and no others, for what the functions
 * below say of the model; "" and lesson_start switch all on. Steps train with all heads on, and what is saved has them. {}.
 * After a failure, such as an unknown name, the same heads are off as before. */
char *lesson_heads(lesson *l, const char *names);

/* Reads a sentence with the model as it is now: {"source", "target", lists of tokens; "translation", the model's own or the given
 * `target` ("": its own); "given", whether it was; "unknown", words read as <unk>; "loss", the mean over "losses", -ln p of the
 * token that follows each of the target, a list; "weights", a list of {"name", "heads", "rows", "columns", "values"};
 * "whole", if heads are off: what the model with all heads on has instead, {"translation", and of the same tokens "loss"}}. */
char *lesson_look(lesson *l, const char *text, const char *target);
/* Next-token probabilities after token `position` of the target that lesson_look has read since the last step, at a temperature
 * above 0, among the `top_k` most probable tokens (0: all): {"tokens": the first `count`, at most 50, as [text, probability]}, or
 * if heads are off [text, probability, its probability with all heads on]. */
char *lesson_next(lesson *l, int position, double temperature, int top_k, int count);
/* Translates by drawing at random, `count` times, 1 to 20: {"texts": [...]}. */
char *lesson_draw(lesson *l, const char *text, double temperature, int top_k, int count, int seed);
/* The page of `rapt explain` about a sentence, as lesson_look reads it: HTML, or {"error": ...}. */
char *lesson_page(lesson *l, const char *text, const char *target, const char *name);

#endif
