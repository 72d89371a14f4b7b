/* examples/threads.c: many threads translate with one model, which they only read; each has a translator of its own. The result
 * is what one thread would give. Ctrl-C cancels.  Usage: threads MODEL THREADS <LINES */
#define _POSIX_C_SOURCE 200809L /* getline */
#include <rapt.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS_MAX = 64, LINES_MAX = 10000, BATCH = 16 };

/* What the threads share. Lines are only read; a batch, and its results, belong to the thread that took it. */
static struct {
    rapt_text lines[LINES_MAX];
    rapt_translation results[LINES_MAX];
    size_t count;
    atomic_size_t taken;
} job;

typedef struct worker {
    pthread_t thread;
    rapt_translator *translator;
    rapt_error err; /* one for each thread, as for each call */
} worker;

static worker workers[THREADS_MAX];
static size_t worker_count;

static void cancel_all(int signal)
{
    (void)signal;
    for (size_t i = 0; i < worker_count; i++)
        rapt_translator_cancel(workers[i].translator);
}

static void *translate_batches(void *argument)
{
    worker *w = argument;
    for (size_t first; (first = atomic_fetch_add(&job.taken, BATCH)) < job.count;) {
        size_t left = job.count - first, n = left < BATCH ? left : BATCH;
        if (rapt_translator_run(w->translator, NULL, job.lines + first, n, job.results + first, &w->err) != RAPT_OK)
            atomic_store(&job.taken, job.count); /* the others end, too */
    }
    return NULL;
}

static void read_lines(void)
{
    char *line = NULL;
    size_t capacity = 0;
    for (ssize_t size; job.count < LINES_MAX && (size = getline(&line, &capacity, stdin)) > 0; line = NULL, capacity = 0) {
        size -= line[size - 1] == '\n';
        job.lines[job.count++] = (rapt_text){line, (size_t)size};
    }
    free(line);
}

/* The first failure, or a code of RAPT_OK. */
static rapt_error translate_all(const rapt_model *model, size_t threads)
{
    rapt_error err = {0};
    rapt_translate_options options = rapt_translate_options_default();
    options.beam = 4;
    options.length_penalty = 0.6;
    options.compute.threads = 1; /* of each translator */
    while (worker_count < threads && (workers[worker_count].translator = rapt_translator_new(model, &options, &err)))
        worker_count++;
    if (err.code)
        return err;
    signal(SIGINT, cancel_all);
    size_t started = 0;
    while (started < threads && !pthread_create(&workers[started].thread, NULL, translate_batches, &workers[started]))
        started++;
    if (started == 0)
        rapt_fail(&err, RAPT_ERR_MEMORY, "cannot start a thread");
    for (size_t i = 0; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
        if (!err.code)
            err = workers[i].err;
    }
    signal(SIGINT, SIG_DFL);
    return err;
}

int main(int argc, char **argv)
{
    size_t threads = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (threads < 1 || threads > THREADS_MAX)
        return 2;
    read_lines();
    rapt_error err = {0};
    rapt_model *model = rapt_model_load(argv[1], NULL, &err);
    if (model)
        err = translate_all(model, threads);
    for (size_t i = 0; i < job.count; i++) {
        if (!err.code)
            puts(job.results[i].hypotheses[0].text);
        free((char *)job.lines[i].data);
    }
    rapt_translations_free(job.results, job.count);
    for (size_t i = 0; i < worker_count; i++)
        rapt_translator_free(workers[i].translator);
    rapt_model_free(model); /* after the translators that read it */
    if (err.code)
        fprintf(stderr, "%s\n", err.message);
    return err.code != RAPT_OK;
}
