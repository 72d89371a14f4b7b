/* serve/module/log_queue.c: one queue for the process, as there is one stderr. Each line is one write, if stderr allows it, so
 * that lines of several processes do not mix. The thread is never joined: its write may block for ever. */
#define _GNU_SOURCE /* pthread_condattr_setclock */
#include "serve/module/serve_log.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINES = 1024, STOP_SECONDS = 1 };

typedef struct log_line {
    char *text;
    size_t size;
} log_line;

static struct log_queue {
    pthread_mutex_t lock; /* guards everything below */
    pthread_cond_t more, written;
    log_line lines[LINES]; /* a ring: `count` of them from `first` on */
    size_t first, count, lost;
    bool starts, stops, writes; /* the thread exists; no more lines are accepted; the thread is writing */
    void (*report)(size_t lost);
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Waits if stderr is full, even if another process has set it to O_NONBLOCK. A failure is ignored: there is no place to report
 * it. */
static void write_log_line(log_line line)
{
    struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};
    size_t done = 0;
    while (done < line.size) {
        const ssize_t n = write(STDERR_FILENO, line.text + done, line.size - done);
        if (n < 0 && errno == EAGAIN)
            poll(&p, 1, -1);
        else if (n >= 0)
            done += (size_t)n;
        else if (errno != EINTR)
            break;
    }
    free(line.text);
}

/* With the lock, which is released while it writes: writes a line, or reports lost lines. False: there is neither. */
static bool log_queue_step(void)
{
    log_line line = {0};
    const size_t lost = queue.count == 0 ? queue.lost : 0;
    if (queue.count > 0) {
        line = queue.lines[queue.first];
        queue.first = (queue.first + 1) % LINES;
        queue.count--;
    }
    queue.lost -= lost;
    queue.writes = line.text || lost > 0;
    if (!queue.writes)
        return false;
    pthread_mutex_unlock(&queue.lock);
    if (line.text)
        write_log_line(line);
    else
        queue.report(lost);
    pthread_mutex_lock(&queue.lock);
    return true;
}

static void *log_queue_run(void *context)
{
    (void)context;
    pthread_mutex_lock(&queue.lock);
    for (;;) {
        if (log_queue_step())
            continue;
        pthread_cond_signal(&queue.written);
        pthread_cond_wait(&queue.more, &queue.lock);
    }
    return NULL;
}

void log_queue_start(void (*report)(size_t lost))
{
    pthread_condattr_t monotonic;
    pthread_t thread;
    pthread_mutex_lock(&queue.lock);
    if (!queue.starts) {
        pthread_condattr_init(&monotonic);
        pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
        pthread_cond_init(&queue.more, NULL);
        pthread_cond_init(&queue.written, &monotonic);
        pthread_condattr_destroy(&monotonic);
        queue.report = report;
        queue.starts = pthread_create(&thread, NULL, log_queue_run, NULL) == 0;
        if (queue.starts)
            pthread_detach(thread);
    }
    queue.stops = false;
    pthread_mutex_unlock(&queue.lock);
}

void log_queue_put(char *line, size_t size)
{
    pthread_mutex_lock(&queue.lock);
    if (!queue.starts) {
        pthread_mutex_unlock(&queue.lock);
        write_log_line((log_line){line, size});
        return;
    }
    const bool fits = queue.count < LINES && !queue.stops;
    if (fits)
        queue.lines[(queue.first + queue.count++) % LINES] = (log_line){line, size};
    else
        queue.lost += !queue.stops;
    pthread_cond_signal(&queue.more);
    pthread_mutex_unlock(&queue.lock);
    if (!fits)
        free(line);
}

void log_queue_stop(void)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += STOP_SECONDS;
    pthread_mutex_lock(&queue.lock);
    queue.stops = queue.starts;
    while (queue.starts && (queue.count > 0 || queue.lost > 0 || queue.writes) &&
           pthread_cond_timedwait(&queue.written, &queue.lock, &until) == 0)
        continue;
    pthread_mutex_unlock(&queue.lock);
}
