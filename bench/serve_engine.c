/* bench/serve_engine.c: the engine's side of serve_http.py: translates the lines of a file one by one with rapt_engine, without a
 * server, again and again for some seconds, and prints the milliseconds of a line: what HTTP adds is the difference.
 *
 *     serve_engine MODEL FILE THREADS SECONDS */
#include <rapt.h>
#include <rapt/engine.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LINES = 10000, LINE_SIZE = 4096, TIMES = 1000000 };

typedef struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t done;
    bool is_done;
} waiter;

static double wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *what)
{
    fprintf(stderr, "serve_engine: %s\n", what);
    exit(1);
}

static size_t read_lines(const char *path, char **lines)
{
    char text[LINE_SIZE];
    size_t count = 0;
    FILE *f = fopen(path, "r");
    while (f && count < LINES && fgets(text, sizeof text, f)) {
        text[strcspn(text, "\n")] = '\0';
        if (!(lines[count++] = strdup(text)))
            fail("out of memory");
    }
    if (!f || count == 0)
        fail("no lines");
    fclose(f);
    return count;
}

static void on_done(void *context, rapt_code code, const char *message, const rapt_translation *out)
{
    waiter *w = context;
    (void)out;
    if (code)
        fail(message);
    pthread_mutex_lock(&w->lock);
    w->is_done = true;
    pthread_cond_signal(&w->done);
    pthread_mutex_unlock(&w->lock);
}

static void translate(rapt_engine *e, rapt_engine_model *m, const char *line)
{
    rapt_error err = {0};
    waiter w = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    const rapt_text text = rapt_text_of(line);
    const rapt_engine_translation request = {.lines = &text, .count = 1, .on_done = on_done, .context = &w};
    if (rapt_engine_translate(m, &request, NULL, &err))
        fail(err.message);
    pthread_mutex_lock(&w.lock);
    while (!w.is_done)
        pthread_cond_wait(&w.done, &w.lock);
    pthread_mutex_unlock(&w.lock);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static char *lines[LINES];
    static double times[TIMES];
    rapt_error err = {0};
    if (argc != 5)
        fail("wants MODEL FILE THREADS SECONDS");
    const size_t line_count = read_lines(argv[2], lines);
    rapt_engine_options options = rapt_engine_options_default();
    options.threads = atoi(argv[3]);
    rapt_engine *e = rapt_engine_new(&options, &err);
    rapt_load_options load = rapt_load_options_default();
    load.inference = true;
    rapt_model *loaded = e ? rapt_model_load(argv[1], &load, &err) : NULL;
    rapt_engine_model *m = loaded ? rapt_engine_add(e, loaded, NULL, &err) : NULL;
    if (!m)
        fail(err.message);
    size_t count = 0;
    double sum = 0;
    for (double end = wall() + atof(argv[4]); count < TIMES && (count < 100 || wall() < end); count++) {
        const double start = wall();
        translate(e, m, lines[count % line_count]);
        sum += times[count] = 1e3 * (wall() - start);
    }
    qsort(times, count, sizeof *times, compare);
    printf("{\"mean\": %.4f, \"p50\": %.4f, \"p99\": %.4f, \"requests\": %zu}\n", sum / (double)count, times[count / 2],
           times[count * 99 / 100], count);
    rapt_engine_free(e);
    return 0;
}
