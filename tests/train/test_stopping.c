/* tests/train/test_stopping.c: rapt_train stopped within a report, a sample and a checkpoint: it ends there, leaves no report
 * that was not finished, and the run that resumes gives the bytes of one that never stopped. And what is told of the best
 * model.
 * labels: raced-late */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "train/train_folder.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>

/* A program that wants to stop once a phase has come `times` times. */
typedef struct listener {
    const char *phase;
    int times;
    atomic_int stop;     /* a signal handler sets it, in whatever thread it runs */
    uint64_t after;      /* calls of on_phase once it wanted to */
    rapt_progress last;
} listener;

/* A rapt_stop_fn. */
static bool wants_to_stop(void *context)
{
    return ((listener *)context)->stop != 0;
}

static void on_phase(void *context, const char *what, size_t done, size_t count)
{
    listener *l = context;
    assert_true(count == 0 || done < count);
    l->after += l->stop != 0;
    if (l->phase && strcmp(what, l->phase) == 0 && --l->times == 0)
        l->stop = 1;
}

static void on_progress(void *context, const rapt_progress *p)
{
    ((listener *)context)->last = *p;
}

static void on_sample(void *context, uint64_t step, const char *text)
{
    (void)context;
    assert_true(step > 0 && text[0] == 'a');
}

static rapt_code train_and_listen(const char *changes, const char *out, listener *l, bool resume)
{
    rapt_recipe r = lm_recipe(changes);
    rapt_error err = {0};
    rapt_train_options o = {.out = out, .resume = resume, .stop = wants_to_stop, .on_phase = on_phase, .on_progress = on_progress,
                            .on_sample = on_sample, .context = l};
    rapt_code code = run(&r, o, &err);
    assert_int_equal(err.code, code);
    rapt_recipe_free(&r);
    return code;
}

/* Lines of the log that hold `text`. */
static int lines_with(const char *folder, const char *text)
{
    size_t size;
    int lines = 0;
    char *log = get(folder, "train.jsonl", &size), *rest = log;
    for (char *line; (line = strsep(&rest, "\n"));)
        lines += strstr(line, text) != NULL;
    free(log);
    return lines;
}

static const char pairs_task[] = "task=translation data.text= data.pairs=pairs.tsv data.validation_fraction=0.3 "
    "tokenizer.type=words "
                                 "train.batch=4 train.eval_bleu=true model.context=64 model.init=xavier ",
                  text_task[] = "train.sample_every=10 train.sample_tokens=30 train.sample_prompt=a ";

static void put_data(void)
{
    put_words("text.txt", 600);
    FILE *f = fopen("pairs.tsv", "w");
    assert_non_null(f);
    for (int i = 0; i < 60; i++)
        fprintf(f, "w%d w%d\tx%d y%d\n", i % 7, i, i % 7, i % 5);
    fclose(f);
}

static void stop_in(const char *task, const char *phase, int times, uint64_t step, int reports)
{
    char name[32];
    static int number;
    listener l = {.phase = phase, .times = times}, quiet = {0};
    snprintf(name, sizeof name, "stopped%d", number++);
    print_message("%s\n", phase);
    assert_int_equal(train_and_listen(task, name, &l, false), RAPT_ERR_INTERRUPTED);
    assert_true(l.after <= 2); /* the checkpoint, and the batch that is not begun */
    assert_int_equal(l.last.step, step);
    assert_int_equal(lines_with(name, "val_loss"), reports);
    assert_true(lines_with(name, "partial") == lines_with(name, "\"loss\"") - reports && lines_with(name, "partial") <= 1);
    assert_int_equal(train_and_listen(task, name, &quiet, true), RAPT_OK);
    assert_int_equal(lines_with(name, "partial"), 0);
    const char *whole = task == text_task ? "text" : "pairs";
    assert_same_bytes(whole, name, "model.safetensors", 0, 0);
    assert_same_bytes(whole, name, "best/model.safetensors", 0, 0);
    assert_same_checkpoint(whole, name, 24);
    assert_same_log(whole, name);
}

static void stopped_between_steps(void **state)
{
    (void)state;
    listener quiet = {0};
    put_data();
    assert_int_equal(train_and_listen(text_task, "text", &quiet, false), RAPT_OK);
    assert_int_equal(train_and_listen(pairs_task, "pairs", &quiet, false), RAPT_OK);
    stop_in(text_task, "validating", 1, 5, 0);
    stop_in(text_task, "validating", 3, 5, 0);
    stop_in(pairs_task, "validating", 2, 5, 0);
    stop_in(pairs_task, "translating the validation set", 1, 5, 0);
    stop_in(pairs_task, "translating the validation set", 3, 15, 2);
    stop_in(text_task, "writing a sample", 1, 10, 2);
    stop_in(text_task, "writing a checkpoint", 1, 5, 0); /* before the first report */
    stop_in(text_task, "writing a checkpoint", 2, 6, 1);
    stop_in(text_task, "writing the best model", 1, 5, 1);
    stop_in(pairs_task, "translating the validation set", 5, 24, 4); /* the last report of all */
}

/* Killed just after that report was made: there is no newer checkpoint, and the log has the line. */
static void a_report_is_made_once(void **state)
{
    (void)state;
    listener quiet = {0}, l = {.phase = "validating", .times = 3};
    put_data();
    assert_int_equal(train_and_listen(text_task, "text", &quiet, false), RAPT_OK);
    assert_int_equal(train_and_listen(text_task, "stopped", &l, false), RAPT_ERR_INTERRUPTED);
    assert_int_equal(system("cp -r stopped/checkpoints before"), 0);
    assert_int_equal(train_and_listen(text_task, "stopped", &quiet, true), RAPT_OK);
    assert_int_equal(system("rm -r stopped/checkpoints && mv before stopped/checkpoints && sed -i 1q stopped/train.jsonl"), 0);
    assert_int_equal(train_and_listen(text_task, "stopped", &quiet, true), RAPT_OK);
    assert_same_log("text", "stopped");
}

/* What a kill leaves after the first report can be resumed, however far apart checkpoints are. */
static void the_first_report_has_a_checkpoint(void **state)
{
    (void)state;
    static const char rare[] = "train.checkpoint_every=1000 train.report_every=2";
    listener l = {.phase = "writing a checkpoint", .times = 1}, quiet = {0};
    put_data();
    train(rare, (rapt_train_options){.out = "whole"});
    assert_int_equal(train_and_listen(rare, "first", &l, false), RAPT_ERR_INTERRUPTED);
    assert_int_equal(l.last.step, 2);
    assert_int_equal(train_and_listen(rare, "first", &quiet, true), RAPT_OK);
    assert_same_model("whole", "first");
}

static listener *alarmed;

static void on_alarm(int number)
{
    (void)number;
    alarmed->stop = 1;
}

/* At any moment, mostly between the batches of a step: that step is made again. Rows of kinds.txt are used by few batches. */
static void stopped_within_steps(void **state)
{
    (void)state;
    static const char task[] = "data.text=kinds.txt train.accumulate=300 train.steps=5 train.report_every=2 "
                               "train.weight_decay=0.1";
    listener quiet = {0};
    put_many_kinds("kinds.txt", 3000, 700);
    assert_int_equal(train_and_listen(task, "whole", &quiet, false), RAPT_OK);
    signal(SIGALRM, on_alarm);
    rapt_code code = RAPT_ERR_INTERRUPTED;
    int calls = 0;
    for (int ms = 5; code == RAPT_ERR_INTERRUPTED; ms += 10, calls++) {
        listener l = {0};
        alarmed = &l;
        struct itimerval once = {.it_value = {ms / 1000, ms % 1000 * 1000}}, never = {0};
        setitimer(ITIMER_REAL, &once, NULL);
        code = train_and_listen(task, "parts", &l, calls > 0);
        setitimer(ITIMER_REAL, &never, NULL);
    }
    signal(SIGALRM, SIG_DFL);
    assert_int_equal(code, RAPT_OK);
    print_message("%d calls\n", calls);
    assert_same_model("whole", "parts");
    assert_same_checkpoint("whole", "parts", 5);
}

/* A rate that is far too high makes it worse and worse. */
static void the_best_one_is_told(void **state)
{
    (void)state;
    static const char bad[] = "train.lr=3 train.clip=0 train.report_every=2 train.checkpoint_every=4";
    listener l = {0};
    put_data();
    assert_int_equal(train_and_listen(bad, "whole", &l, false), RAPT_OK);
    assert_int_equal(l.last.step, 24);
    assert_true(l.last.best_val_loss <= l.last.val_loss);
    size_t size;
    char *log = get("whole", "train.jsonl", &size), *rest = log;
    double best = INFINITY;
    uint64_t best_step = 0;
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        double loss = strtod(strstr(line, "\"val_loss\": ") + 12, NULL);
        if (loss < best) {
            best = loss;
            best_step = strtoull(strstr(line, "\"step\": ") + 8, NULL, 10);
        }
    }
    free(log);
    assert_true(best_step > 0 && best_step < 24);
    assert_int_equal(l.last.best_step, best_step);
    assert_true(fabs(l.last.best_val_loss - best) < 1e-6 * best);
    uint64_t wanted = best_step;
    train(bad, (rapt_train_options){.out = "parts", .max_steps = 23});
    assert_int_equal(train_and_listen(bad, "parts", &l, true), RAPT_OK); /* known from before */
    assert_int_equal(l.last.best_step, wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(stopped_between_steps),
        IN_FOLDER(a_report_is_made_once),
        IN_FOLDER(the_first_report_has_a_checkpoint),
        IN_FOLDER(stopped_within_steps),
        IN_FOLDER(the_best_one_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
