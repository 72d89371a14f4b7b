/* cli/progress.c: the run calls it from the run's thread when something has happened. Meanwhile a second thread updates the time,
 * because a phase or a step may last for minutes. */
#include "cli/progress.h"

#include "base/clock.h"
#include "base/terminal.h"
#include "base/thread.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#define REFRESH_SECONDS 0.1 /* between updates of the live line */
#define PHASE_SECONDS 0.5   /* shorter phases are not shown on a terminal */
#define SET_UP_SECONDS 5    /* without a terminal, shorter phases before the first step are not shown */
#define SILENCE_SECONDS 60
#define COLUMNS 80
#define ERASE "\r\033[K" /* the line that the cursor is in */

struct progress {
    progress_options o;
    thread_mutex lock;
    thread_condition end; /* tells the ticker to end */
    thread_handle ticker;
    bool has_ticker, ending;
    bool stepped;      /* there was a step */
    rapt_progress at;  /* the last one */
    const char *phase; /* NULL: none */
    size_t done, count;
    double began;      /* the phase */
    double shown;      /* when the last line was shown, of any kind */
    bool live, stays;  /* the terminal has a live line; it is worth keeping */
};

/* ---- lines: with the lock held --------------------------------------------------------------------------------- */

/* The last column stays free: some terminals wrap when it is written to. */
static size_t columns_of(const progress *p)
{
    if (!p->o.terminal)
        return PROGRESS_LINE - 1;
    const char *text = getenv("COLUMNS");
    size_t columns = terminal_columns(p->o.out);
    if (columns == 0 && text)
        columns = (size_t)strtoul(text, NULL, 10);
    if (columns == 0)
        columns = COLUMNS;
    return columns > PROGRESS_LINE ? PROGRESS_LINE - 1 : columns - 1;
}

static void erase(progress *p)
{
    if (p->live)
        fputs(ERASE, p->o.out);
    p->live = false;
}

/* Writes a live line, or without a terminal a line of the log. */
static void progress_show(progress *p, const char *line, bool stays)
{
    fprintf(p->o.out, "%s%s%s", p->live ? ERASE : "", line, p->o.terminal ? "" : "\n"); /* one write: no flicker */
    p->live = p->o.terminal;
    p->stays = stays;
    p->shown = clock_seconds();
    fflush(p->o.out);
}

static void progress_show_phase(progress *p)
{
    char line[PROGRESS_LINE], time[32], parts[64] = "";
    size_t columns = columns_of(p);
    if (p->count > 0)
        snprintf(parts, sizeof parts, " %zu/%zu", p->done, p->count);
    snprintf(line, columns + 1, "%s%s  %s", p->phase, parts, cli_duration(clock_seconds() - p->began, time));
    progress_show(p, line, false);
}

static void show_step(progress *p)
{
    char line[PROGRESS_LINE];
    rapt_progress at = p->at;
    at.report = false; /* the line above already has the report */
    progress_show(p, progress_line(&at, columns_of(p), line), true);
}

static void progress_print_report(progress *p)
{
    char line[PROGRESS_LINE];
    fprintf(p->o.out, "%s%s\n", p->live ? ERASE : "", progress_line(&p->at, columns_of(p), line));
    fflush(p->o.out);
    p->live = false;
    p->shown = clock_seconds();
}

/* ---- the ticker ------------------------------------------------------------------------------------------------- */

static bool progress_is_silent(const progress *p, double now)
{
    double silence = p->o.silence > 0 ? p->o.silence : SILENCE_SECONDS;
    return now - p->shown >= silence || (p->phase && !p->stepped && p->shown <= p->began && now - p->began >= SET_UP_SECONDS);
}

static void tick(progress *p)
{
    double now = clock_seconds();
    if (p->o.terminal ? p->phase && now - p->began >= PHASE_SECONDS : progress_is_silent(p, now)) {
        if (p->phase)
            progress_show_phase(p);
        else if (p->stepped && !p->o.terminal)
            show_step(p);
    }
}

static double in_a_while(const progress *p)
{
    return clock_seconds() + (p->o.silence > 0 && p->o.silence < 1 ? p->o.silence : 1);
}

static void *keep_ticking(void *context)
{
    progress *p = context;
    thread_lock(&p->lock);
    while (!p->ending)
        if (!thread_wait_until(&p->end, &p->lock, in_a_while(p)) && !p->ending)
            tick(p);
    thread_unlock(&p->lock);
    return NULL;
}

/* ---- what the run says ------------------------------------------------------------------------------------------ */

progress *progress_new(const progress_options *options)
{
    progress *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->o = *options;
    p->shown = clock_seconds();
    thread_mutex_init(&p->lock);
    thread_condition_init(&p->end);
    p->has_ticker = thread_start(&p->ticker, keep_ticking, p); /* without one there is less to see */
    return p;
}

void progress_free(progress *p, bool failed)
{
    if (!p)
        return;
    thread_lock(&p->lock);
    p->ending = true;
    thread_wake_one(&p->end);
    thread_unlock(&p->lock);
    if (p->has_ticker)
        thread_join(p->ticker);
    if (p->live && p->stays && failed)
        fputc('\n', p->o.out);
    else
        erase(p);
    fflush(p->o.out);
    thread_condition_free(&p->end);
    thread_mutex_free(&p->lock);
    free(p);
}

void progress_step(progress *p, const rapt_progress *at)
{
    if (!p)
        return;
    thread_lock(&p->lock);
    p->at = *at;
    p->stepped = true;
    p->phase = NULL;
    if (at->report)
        progress_print_report(p);
    else if (p->o.terminal && (!p->live || clock_seconds() - p->shown >= REFRESH_SECONDS))
        show_step(p);
    thread_unlock(&p->lock);
}

void progress_phase(progress *p, const char *what, size_t done, size_t count)
{
    if (!p)
        return;
    thread_lock(&p->lock);
    double now = clock_seconds();
    if (!p->phase || strcmp(p->phase, what) != 0)
        p->began = now;
    p->phase = what;
    p->done = done;
    p->count = count;
    if (p->o.terminal && now - p->began >= PHASE_SECONDS && now - p->shown >= REFRESH_SECONDS)
        progress_show_phase(p);
    thread_unlock(&p->lock);
}

void progress_clear(progress *p)
{
    if (!p)
        return;
    thread_lock(&p->lock);
    erase(p);
    p->phase = NULL;
    p->shown = clock_seconds();
    fflush(p->o.out);
    thread_unlock(&p->lock);
}
