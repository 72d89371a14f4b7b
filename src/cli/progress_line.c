/* cli/progress_line.c: a step or a report as a line of text, as wide as the terminal. For progress.c. */
#include "cli/cli.h"
#include "cli/progress.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* The parts that are left out of a line that is too wide, in this order. */
enum { ALL, NO_WAITING, NO_SPEED, NO_CHRF, NO_BOOK, NO_EPOCH, NO_TIME, NO_LAST_STEP, NO_BLEU, NO_STEP, LOSS_ALONE };

/* Appends a part, with two spaces before it unless it is the first. */
__attribute__((format(printf, 2, 3))) static void put(char line[PROGRESS_LINE], const char *format, ...)
{
    size_t used = strlen(line);
    va_list list;
    va_start(list, format);
    if (used > 0 && used + 2 < PROGRESS_LINE) {
        strcpy(line + used, "  ");
        used += 2;
    }
    vsnprintf(line + used, PROGRESS_LINE - used, format, list);
    va_end(list);
}

static void put_step(const rapt_progress *p, int left_out, char line[PROGRESS_LINE])
{
    if (left_out < NO_EPOCH)
        put(line, "epoch %llu/%llu", (unsigned long long)p->epoch, (unsigned long long)p->epochs);
    if (left_out < NO_LAST_STEP)
        put(line, "step %llu/%llu", (unsigned long long)p->step, (unsigned long long)p->steps);
    else if (left_out < NO_STEP)
        put(line, "step %llu", (unsigned long long)p->step);
}

static void put_losses(const rapt_progress *p, int left_out, char line[PROGRESS_LINE])
{
    put(line, "loss %.4f", p->loss);
    if (!isnan(p->loss_book) && left_out < NO_BOOK)
        put(line, "book %.4f", p->loss_book);
    if (p->report && !isnan(p->val_loss) && left_out < LOSS_ALONE)
        put(line, "val_loss %.4f", p->val_loss);
    if (p->report && !isnan(p->val_rewards.accuracy) && left_out < NO_BLEU)
        put(line, "val_accuracy %.2f", p->val_rewards.accuracy);
    else if (!isnan(p->rewards.accuracy) && left_out < NO_BLEU)
        put(line, "accuracy %.2f", p->rewards.accuracy);
    if (p->report && !isnan(p->val_bleu) && left_out < NO_BLEU)
        put(line, "BLEU %.2f", p->val_bleu);
    if (p->report && !isnan(p->val_chrf) && left_out < NO_CHRF)
        put(line, "chrF %.2f", p->val_chrf);
    if (p->report && !isnan(p->val_bleu_book) && left_out < NO_BOOK)
        put(line, "book's BLEU %.3f", p->val_bleu_book);
}

const char *progress_line(const rapt_progress *at, size_t columns, char line[PROGRESS_LINE])
{
    char left[32];
    for (int left_out = ALL; left_out <= LOSS_ALONE; left_out++) {
        line[0] = '\0';
        put_step(at, left_out, line);
        put_losses(at, left_out, line);
        if (left_out < NO_SPEED)
            put(line, "%.0f tokens/s", at->tokens_per_s);
        if (left_out < NO_WAITING && at->ranks > 1 && !isnan(at->waited))
            put(line, "%.0f %% waited", 100 * at->waited);
        if (left_out < NO_TIME)
            put(line, "%s left", cli_duration(at->seconds_left, left));
        if (strlen(line) <= columns)
            return line;
    }
    line[columns] = '\0';
    return line;
}
