/* tests/cli/test_progress.c: the progress of `rapt train`: how a line gets shorter, and what is said in a log where a phase or a
 * step takes its time. What it looks like on a terminal is in check_progress.sh.
 * labels: threads */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const rapt_progress report = {.step = 252, .steps = 1200, .epoch = 3, .epochs = 15, .loss = 1.8447, .loss_book = 7.5,
                                     .val_loss = 1.2169, .val_bleu = 20.5, .val_chrf = 45.25, .val_bleu_book = 0.658,
                                     .rewards = {NAN, NAN, NAN}, .val_rewards = {NAN, NAN, NAN}, .tokens_per_s = 10840,
                                     .seconds_left = 45, .report = true};

static void lines_get_shorter(void **state)
{
    (void)state;
    static const struct {
        size_t columns;
        const char *line;
    } cases[] = {
        {255, "epoch 3/15  step 252/1200  loss 1.8447  book 7.5000  val_loss 1.2169  BLEU 20.50  chrF 45.25  "
              "book's BLEU 0.658  10840 tokens/s  0:45 left"},
        {130, "epoch 3/15  step 252/1200  loss 1.8447  book 7.5000  val_loss 1.2169  BLEU 20.50  chrF 45.25  "
              "book's BLEU 0.658  0:45 left"},
        {118, "epoch 3/15  step 252/1200  loss 1.8447  book 7.5000  val_loss 1.2169  BLEU 20.50  book's BLEU 0.658  0:45 left"},
        {79, "epoch 3/15  step 252/1200  loss 1.8447  val_loss 1.2169  BLEU 20.50  0:45 left"},
        {70, "step 252/1200  loss 1.8447  val_loss 1.2169  BLEU 20.50  0:45 left"},
        {60, "step 252/1200  loss 1.8447  val_loss 1.2169  BLEU 20.50"},
        {50, "step 252  loss 1.8447  val_loss 1.2169  BLEU 20.50"},
        {39, "step 252  loss 1.8447  val_loss 1.2169"},
        {30, "loss 1.8447  val_loss 1.2169"},
        {11, "loss 1.8447"},
        {5, "loss "},
        {0, ""},
    };
    char line[PROGRESS_LINE];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(progress_line(&report, cases[i].columns, line), cases[i].line);
    rapt_progress step = report; /* what was measured before is not said again, nor what there is not */
    step.report = false;
    step.loss_book = step.seconds_left = NAN;
    assert_string_equal(progress_line(&step, 255, line), "epoch 3/15  step 252/1200  loss 1.8447  10840 tokens/s  -:-- left");
    step.ranks = 4;
    step.waited = NAN; /* not known yet */
    assert_string_equal(progress_line(&step, 255, line), "epoch 3/15  step 252/1200  loss 1.8447  10840 tokens/s  -:-- left");
    step.waited = 0.034;
    assert_string_equal(progress_line(&step, 255, line),
                        "epoch 3/15  step 252/1200  loss 1.8447  10840 tokens/s  3 % waited  -:-- left");
    assert_string_equal(progress_line(&step, 70, line), "epoch 3/15  step 252/1200  loss 1.8447  10840 tokens/s  -:-- left");
    step.rewards.accuracy = 0.75, step.val_rewards.accuracy = 0.5;
    assert_string_equal(progress_line(&step, 66, line), "epoch 3/15  step 252/1200  loss 1.8447  accuracy 0.75  -:-- left");
    step.report = true;
    step.val_bleu = step.val_chrf = step.val_bleu_book = NAN;
    assert_string_equal(progress_line(&step, 90, line),
                        "epoch 3/15  step 252/1200  loss 1.8447  val_loss 1.2169  val_accuracy 0.50  -:-- left");
}

static void numbers_of_any_size_fit(void **state)
{
    (void)state;
    rapt_progress p = {.step = UINT64_MAX, .steps = UINT64_MAX, .epoch = UINT64_MAX, .epochs = UINT64_MAX, .loss = -1e300,
                       .loss_book = 1e300, .val_loss = 1e300, .val_bleu = 1e300, .val_chrf = 1e300, .val_bleu_book = 1e300,
                       .tokens_per_s = 1e300,
                       .report = true};
    char line[PROGRESS_LINE];
    for (size_t columns = 0; columns < PROGRESS_LINE; columns++)
        assert_true(strlen(progress_line(&p, columns, line)) <= columns);
}

/* ---- a log ------------------------------------------------------------------------------------------------------ */

typedef struct log_case {
    FILE *out;
    progress *p;
    char text[4096]; /* as read last */
} log_case;

static void begin(log_case *c, double silence)
{
    c->out = tmpfile();
    assert_non_null(c->out);
    c->p = progress_new(&(progress_options){.out = c->out, .silence = silence});
    assert_non_null(c->p);
}

static const char *text_of(log_case *c)
{
    ssize_t size = pread(fileno(c->out), c->text, sizeof c->text - 1, 0);
    assert_true(size >= 0);
    c->text[size] = '\0';
    return c->text;
}

/* Whether `text` comes, with nothing called meanwhile; a busy machine may be late. */
static bool comes_by_itself(log_case *c, const char *text)
{
    for (int i = 0; i < 500; i++) {
        if (strstr(text_of(c), text))
            return true;
        usleep(20000);
    }
    return false;
}

static void end(log_case *c)
{
    progress_free(c->p, false);
    assert_null(strpbrk(text_of(c), "\r\033"));
    fclose(c->out);
}

static void a_silent_step_is_told_of(void **state)
{
    (void)state;
    log_case c;
    rapt_progress step = report;
    step.report = false;
    begin(&c, 0.05);
    progress_step(c.p, &step);
    assert_true(comes_by_itself(&c, "epoch 3/15  step 252/1200  loss 1.8447  book 7.5000  10840 tokens/s  0:45 left\n"));
    assert_null(strstr(c.text, "val_loss"));
    progress_step(c.p, &report);
    assert_non_null(strstr(text_of(&c), "  BLEU 20.50  chrF 45.25  book's BLEU 0.658  10840 tokens/s  0:45 left\n"));
    end(&c);
}

static void a_long_phase_is_told_of(void **state)
{
    (void)state;
    log_case c;
    begin(&c, 0.05);
    progress_phase(c.p, "tokenizing the text", 0, 0);
    assert_true(comes_by_itself(&c, "tokenizing the text  0:0"));
    progress_step(c.p, &report);
    progress_phase(c.p, "validating", 3, 20);
    assert_true(comes_by_itself(&c, "validating 3/20  0:0"));
    end(&c);
}

static void short_ones_are_not(void **state)
{
    (void)state;
    log_case c;
    rapt_progress step = report;
    step.report = false;
    begin(&c, 0); /* a minute */
    progress_phase(c.p, "reading the data", 0, 0);
    progress_phase(c.p, "tokenizing the text", 0, 0);
    progress_step(c.p, &step);
    progress_phase(c.p, "validating", 3, 20);
    progress_step(c.p, &report);
    progress_step(c.p, &step);
    progress_clear(c.p);
    assert_string_equal(text_of(&c), "epoch 3/15  step 252/1200  loss 1.8447  book 7.5000  val_loss 1.2169  BLEU 20.50  "
                                     "chrF 45.25  book's BLEU 0.658  10840 tokens/s  0:45 left\n");
    end(&c);
}

static void of_all_kinds(progress *p)
{
    progress_step(p, &report);
    progress_phase(p, "validating", 0, 0);
    progress_clear(p);
    progress_step(p, &report);
    progress_free(p, true);
}

/* What a function writes to stdout and stderr, to the length in bytes. */
static off_t written_by(void (*make)(FILE *out), FILE *out)
{
    FILE *file = tmpfile();
    int kept[] = {dup(STDOUT_FILENO), dup(STDERR_FILENO)};
    fflush(NULL);
    assert_true(file && dup2(fileno(file), STDOUT_FILENO) >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    make(out);
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        dup2(kept[i], STDOUT_FILENO + i);
        close(kept[i]);
    }
    off_t length = lseek(fileno(file), 0, SEEK_END);
    fclose(file);
    return length;
}

static void with_progress(FILE *out)
{
    of_all_kinds(progress_new(&(progress_options){.out = out, .terminal = true}));
}

static void without(FILE *out)
{
    (void)out;
    of_all_kinds(NULL);
}

/* Nothing on either stream, where the same calls with a progress say something. */
static void quiet_is_quiet(void **state)
{
    (void)state;
    assert_true(written_by(with_progress, stderr) > 0);
    assert_int_equal(written_by(without, stderr), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_get_shorter),        cmocka_unit_test(numbers_of_any_size_fit),
        cmocka_unit_test(a_silent_step_is_told_of), cmocka_unit_test(a_long_phase_is_told_of),
        cmocka_unit_test(short_ones_are_not),       cmocka_unit_test(quiet_is_quiet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
