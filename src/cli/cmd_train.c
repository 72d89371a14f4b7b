/* cli/cmd_train.c: `rapt train`: options, and messages about the data, the model and how a run ended. rapt_train does the work;
 * progress.c shows the steps. */
#include "base/chars.h"
#include "base/disk.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/cli_model.h"
#include "cli/corpus_text.h"
#include "cli/fetch_hint.h"
#include "cli/group/cli_group.h"
#include "cli/live_curves.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cli/signals.h"

#include "data/corpus.h"
#include "group/group_ops.h"
#include "rapt/train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ASSIGNMENTS 256

typedef struct train_arguments {
    const char *recipe, *out, *init, *plot;
    rapt_type precision;
    const char *assignments[MAX_ASSIGNMENTS];
    size_t assignment_count;
    bool resume, reset_optimizer, quiet, help_recipe, untrained;
    int threads;
    long long max_steps, seed; /* seed -1: not given */
    double wait;
} train_arguments;

static void take_train_seed(const cli_option *o, void *in, const char *text)
{
    (void)o;
    ((train_arguments *)in)->seed = cli_seed(text);
}

#define ARGUMENTS train_arguments
static const cli_option OPTIONS[] = {
    OPTION_TEXT("out", "DIR", AT(out), "Model folder to write (default: the recipe's name, in models/)", .letter = 'o'),
    CLI_OPTION_SET(AT(assignments), AT(assignment_count), MAX_ASSIGNMENTS),
    OPTION_FLAG("resume", AT(resume), "Resume from the latest checkpoint in the folder; without RECIPE, with the recipe in it"),
    OPTION_FLAG("reset-optimizer", AT(reset_optimizer), "With --resume: the optimizer begins anew, with moments of 0"),
    OPTION_TEXT("init", "MODEL", AT(init), "Fine-tune MODEL: start from its parameters, sizes and tokenizers; overrides "
                "train.init. With train.lora.rank, low-rank adapters (LoRA) of it are trained, and nothing else"),
    CLI_OPTION_THREADS(AT(threads)),
    CLI_OPTION_SEED(take_train_seed, "Overrides the recipe's seed"),
    OPTION_LONG("max-steps", "N", AT(max_steps), 0, OPTION_ANY, "Stop after step N; 0: before the first, with the model "
                "untrained"),
    OPTION_TEXT("plot", "FILE", AT(plot), "Draw the training curves into FILE, PNG or SVG, at each report (train.report_every)"),
    CLI_OPTION_PRECISION(AT(precision), "Overrides the recipe's train.precision: fp32 or bf16"),
    OPTION_FLAG("quiet", AT(quiet), "No progress"),
    OPTION_NUMBER("wait", "SECONDS", AT(wait), 1, 86400, "Several processes: end the run where one has not answered for so long "
                  "(default: 300)"),
    OPTION_FLAG("help-recipe", AT(help_recipe), "List every key of a recipe and stop"),
    {0}};

static void cmd_train_finish(void *arguments)
{
    train_arguments *a = arguments;
    a->untrained = options_given("max-steps") && a->max_steps == 0; /* in the library 0 means no limit */
    cli_check_assignments(a->assignments, a->assignment_count);
    if (a->plot && !live_curves_is_picture(a->plot))
        usage_error("--plot: '%s' ends in neither .png nor .svg", a->plot);
    if (!a->recipe && !a->help_recipe && !(a->resume && a->out))
        usage_error("missing operand: RECIPE.yaml; with --resume and --out the folder has one");
    if (a->reset_optimizer && !a->resume)
        usage_error("--reset-optimizer is for a run that is resumed: --resume");
    if (a->plot && a->untrained)
        usage_error("--plot draws what --max-steps 0 does not have: reports");
}

const cli_command train_command = {
    .options = OPTIONS, .operands = "RECIPE.yaml\n--resume --out=DIR",
    .about = "Train a model from a recipe, a YAML file of hyperparameters.",
    .notes = "Progress goes to stderr: one line per report (step, loss, validation loss, throughput), in between a live line "
             "on a terminal, elsewhere a line every minute. Ctrl-C, SIGTERM and SIGHUP write a checkpoint for --resume; a "
             "resumed run is bit-identical to one that was never stopped. The exit status after a signal is 128 plus its "
             "number: 130 after Ctrl-C.\n\nSeveral processes, on one machine or more: mpirun -n 4 rapt train RECIPE.yaml, with "
             "train.shards of 4 or more in the recipe; the model is the same, byte for byte (docs/cluster.md). SIGUSR1 to mpirun "
             "writes a checkpoint and stops all of them.",
    .most = 1, .takes = "one recipe", .operand = {AT(recipe)}, .finish = cmd_train_finish};

typedef struct display {
    bool quiet, several; /* processes */
    progress *progress; /* NULL: quiet */
    rapt_task task;
    const char *unit;   /* of a language model's data, other than tokens of a text; or NULL */
    int64_t patience;
    rapt_recipe_best_by best_by;
    live_curves curves;
    rapt_progress last;
} display;

static void show_data(const display *d, const rapt_memory_plan *p)
{
    if (d->task == RAPT_TASK_LANGUAGE_MODEL && !d->unit) {
        fprintf(stderr, "data: %zu tokens to train on, %zu for validation; a vocabulary of %zu\n", p->examples,
                p->validation_examples, p->target_vocab);
        return;
    }
    fprintf(stderr, "data: %zu %s to train on, %zu for validation", p->examples, d->unit ? d->unit : "pairs",
            p->validation_examples);
    if (p->dropped + p->validation_dropped > 0)
        fprintf(stderr, ", %zu and %zu more left out as too long", p->dropped, p->validation_dropped);
    if (p->empty > 0)
        fprintf(stderr, ", %zu left out with an empty side", p->empty);
    if (p->shared_vocab || d->unit)
        fprintf(stderr, "; a vocabulary of %zu\n", p->source_vocab);
    else
        fprintf(stderr, "; vocabularies of %zu and %zu\n", p->source_vocab, p->target_vocab);
}

static void show_corpora(const rapt_memory_plan *p)
{
    char text[CORPUS_FILTER_TEXT];
    for (size_t i = 0; i < p->corpus_count; i++) {
        const rapt_corpus *c = &p->corpora[i];
        if (c->rule_count > 0)
            cli_say("filter: %s: %s\n", corpus_name(c->path), corpus_filter_text(c, text));
        if (p->corpus_count > 1 || c->weight != 1)
            cli_say("corpus: %s: %zu pairs, weight %g: %zu in an epoch\n", corpus_name(c->path), c->pairs, c->weight, c->pass);
    }
}

static void show_gemm(const rapt_memory_plan *p)
{
    if (strcmp(p->gemm, "emulated") == 0)
        fputs("gemm: bf16, emulated on this processor: no faster than fp32\n", stderr);
    else if (strcmp(p->gemm, "fp32") != 0)
        fprintf(stderr, "gemm: bf16, by %s\n", p->gemm);
}

static void show_plan(void *context, const rapt_memory_plan *p)
{
    char parameters[32], gradients[32], moments[32], activations[32], batches[CLI_BATCHES];
    const display *d = context;
    if (d->quiet)
        return;
    progress_clear(d->progress);
    show_data(d, p);
    show_corpora(p);
    fprintf(stderr, "model: %zu parameters", p->parameter_count);
    fprintf(stderr, p->frozen_count ? " of adapters, for a model of %zu\n" : "\n", p->frozen_count);
    show_gemm(p);
    fprintf(stderr, "memory: parameters %s, gradients %s, Adam %s, activations and scratch %s%s%s\n",
            cli_bytes((double)p->parameters, parameters), cli_bytes((double)p->gradients, gradients),
            cli_bytes((double)p->moments, moments), cli_bytes((double)p->activations, activations),
            cli_batches(p->batches, batches), d->several ? ", in each process" : "");
}

/* What decides which model is the best. */
static const char *best_name(const display *d)
{
    return d->best_by == RAPT_RECIPE_BEST_BY_BLEU ? "BLEU" : d->best_by == RAPT_RECIPE_BEST_BY_CHRF ? "chrF" : "val_loss";
}

static void show_end(const display *d, const rapt_progress *p)
{
    progress_clear(d->progress);
    if (d->quiet)
        return;
    if (p->report)
        fprintf(stderr, "early stopping: %s has not %s for %lld reports (train.patience)\n", best_name(d),
                d->best_by == RAPT_RECIPE_BEST_BY_LOSS ? "fallen" : "risen", (long long)d->patience);
    else /* early stopping ended the run before; this call has nothing to do */
        fprintf(stderr, "this run ended after step %llu by early stopping (train.patience); with more patience --resume "
                "continues it\n", (unsigned long long)p->step);
}

static void cmd_train_show_progress(void *context, const rapt_progress *p)
{
    display *d = context;
    d->last = *p;
    if (p->report || !p->early_stopped)
        progress_step(d->progress, p);
    if (p->report) {
        progress_clear(d->progress); /* a warning would stand in the live line */
        live_curves_report(&d->curves);
    }
    if (p->early_stopped)
        show_end(d, p);
}

static void cmd_train_show_phase(void *context, const char *what, size_t done, size_t count)
{
    const display *d = context;
    progress_phase(d->progress, what, done, count);
}

/* Without a prompt in the recipe, the prompt is a line break. */
static void show_sample(void *context, uint64_t step, const char *text)
{
    const display *d = context;
    progress_clear(d->progress);
    if (!d->quiet)
        fprintf(stderr, "---- a sample after step %llu\n%s\n----\n", (unsigned long long)step, text + (*text == '\n'));
}

static void show_model(const display *d, const char *out)
{
    if (d->quiet)
        return;
    cli_say("model: %s", out);
    if (!isnan(d->last.best_score) && d->last.best_step < d->last.step)
        cli_say(" (best %s %.2f at step %llu in %s/best)", best_name(d), d->last.best_score,
                (unsigned long long)d->last.best_step, out);
    else if (d->best_by == RAPT_RECIPE_BEST_BY_LOSS && d->last.best_val_loss < d->last.val_loss)
        cli_say(" (best validation loss %.4f at step %llu in %s/best)", d->last.best_val_loss,
                (unsigned long long)d->last.best_step, out);
    fputc('\n', stderr);
}

static void show_warning(void *context, const char *text)
{
    const display *d = context;
    progress_clear(d->progress);
    cli_say("rapt: warning: %s\n", text);
}

static int help_recipe(void)
{
    rapt_error err = {0};
    char *text;
    if (rapt_recipe_help(&text, &err))
        return cli_fail(&err);
    fputs(text, stdout);
    free(text);
    return 0;
}

static rapt_code set_init(rapt_recipe *r, const char *init, rapt_error *err)
{
    char *assignment = chars_print("train.init=%s", init);
    if (!assignment)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory");
    rapt_code code = rapt_recipe_set(r, assignment, err);
    free(assignment);
    return code;
}

static bool assigns(const train_arguments *a, const char *key)
{
    for (size_t i = 0; i < a->assignment_count; i++)
        if (strncmp(a->assignments[i], key, strlen(key)) == 0 && a->assignments[i][strlen(key)] == '=')
            return true;
    return false;
}

/* Refuses --set train.epochs if the recipe has train.steps: it would be ignored. */
static rapt_code cmd_train_check_length(const train_arguments *a, const rapt_recipe *r, rapt_error *err)
{
    if (r->train.steps == 0 || !assigns(a, "train.epochs") || assigns(a, "train.steps"))
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "--set train.epochs: the recipe has train.steps %lld, which decides; --set that, or "
                     "train.steps=0 to go by epochs", (long long)r->train.steps);
}

static rapt_code cmd_train_read_recipe(const train_arguments *a, rapt_recipe *r, rapt_error *err)
{
    /* a run is resumed with the recipe of its folder, unless another is given */
    rapt_code code = a->recipe ? rapt_recipe_read(a->recipe, r, err) : rapt_recipe_load(a->out, r, err);
    for (size_t i = 0; i < a->assignment_count && !code; i++)
        code = rapt_recipe_set(r, a->assignments[i], err);
    if (!code)
        code = cmd_train_check_length(a, r, err);
    if (a->init && !code)
        code = set_init(r, a->init, err);
    if (a->seed >= 0)
        r->seed = a->seed;
    if (options_given("precision"))
        r->train.precision = a->precision;
    cli_point_to_keys(err);
    return code ? code : rapt_recipe_check(r, a->recipe ? a->recipe : a->out, err);
}

/* models/NAME for some/where/NAME.yaml. */
static char *default_out(const char *recipe)
{
    const char *slash = disk_last_slash(recipe), *base = slash ? slash + 1 : recipe, *dot = strrchr(base, '.');
    int length = (int)(dot && dot > base ? (size_t)(dot - base) : strlen(base));
    return chars_print("models/%.*s", length, base);
}

/* Rank 0 alone shows anything. */
static void set_callbacks(rapt_train_options *o, display *d)
{
    o->on_phase = cmd_train_show_phase;
    o->on_plan = show_plan;
    o->on_progress = cmd_train_show_progress;
    o->on_sample = show_sample;
    o->on_warning = show_warning;
    o->context = d;
}

static rapt_code cmd_train_run(const train_arguments *a, const rapt_recipe *r, const cli_group *group, rapt_error *err)
{
    display d = {.quiet = a->quiet || group->rank > 0, .several = group->ranks != NULL, .task = r->task,
                 .patience = r->train.patience, .best_by = r->train.best_by,
                 .unit = r->data.conversations ? "conversations" : r->data.preferences ? "preferences" : NULL};
    progress_options shown = {.out = stderr, .terminal = cli_says_anew()};
    char *out = a->out ? chars_copy(a->out) : default_out(a->recipe);
    rapt_train_options o = rapt_train_options_default();
    o.recipe = r, o.out = out, o.resume = a->resume, o.group = group->ranks, o.max_steps = (uint64_t)a->max_steps;
    o.reset_optimizer = a->reset_optimizer, o.untrained = a->untrained, o.threads = a->threads, o.stop = signals_stop;
    if (group->rank == 0)
        set_callbacks(&o, &d);
    d.curves.request = (plot_training_request){.folder = out, .out = group->rank == 0 ? a->plot : NULL,
                                               .by_epoch = r->train.steps == 0,
                                               .book = r->train.reduction == RAPT_RECIPE_REDUCTION_BOOK};
    d.progress = d.quiet ? NULL : progress_new(&shown);
    live_curves_begin(&d.curves);
    if (r->train.init && group->rank == 0)
        cli_note_seal(r->train.init);
    signals_catch();
    rapt_code code = out ? rapt_train(&o, err) : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory");
    progress_free(d.progress, code != RAPT_OK);
    live_curves_end(&d.curves);
    if (code)
        fetch_hint(err);
    else
        show_model(&d, out);
    free(out);
    return code;
}

int cmd_train(int argc, char **argv)
{
    train_arguments a = {.seed = -1};
    rapt_recipe r;
    rapt_error err = {0};
    cli_group group;
    options_parse(&train_command, argc, argv, &a);
    if (a.help_recipe)
        return help_recipe();
    int status = cli_group_join(&group, a.wait);
    if (status)
        return status;
    if (group.ranks)
        signals_catch_forwarded();
    else
        cli_warn_threads(a.threads, a.quiet);
    rapt_code code = cmd_train_read_recipe(&a, &r, &err);
    if (group.ranks)
        code = group_agree(group.ranks, code, &err);
    if (!code)
        code = cli_group_threads(&group, a.threads, a.quiet, &a.threads, &err);
    if (!code)
        code = cmd_train_run(&a, &r, &group, &err);
    status = cli_group_leave(&group, code, signals_status(), &err);
    rapt_recipe_free(&r);
    return status;
}
