/* serve/module/ops.c: endpoints for operators. */
#define _GNU_SOURCE
#include "serve/module/endpoints.h"

#include "serve/module/embedded.h"
#include "serve/module/reply.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- GET /health, /ready, /openapi.json ------------------------------------------------------------------------------------ */

static size_t count_damaged(const served_set *set)
{
    size_t count = 0;
    for (size_t i = 0; set && i < set->count; i++)
        count += served_damage(&set->models[i]) != NULL;
    return count;
}

/* The server lives while it has damaged models: a restart would only take the other models away. The path needs no key, so it
 * tells no names. */
void ops_health(app *a, exchange *x)
{
    served_set *set = app_models(a);
    const size_t damaged = count_damaged(set);
    reply_json(x, 200, damaged ? json_pack("{s:s, s:I}", "status", "ok", "damaged", (json_int_t)damaged)
                               : json_pack("{s:s}", "status", "ok"));
    if (set)
        served_release(set);
}

void ops_ready(app *a, exchange *x)
{
    served_set *set = app_models(a);
    const size_t usable = set ? set->count - count_damaged(set) : 0;
    const char *missing = !app_is_ready(a) ? "the server drains: it takes no requests"
                          : usable > 0     ? NULL
                          : set && set->count ? "no model can be used"
                                              : "no model is loaded";
    if (missing) {
        reply_json(x, 503, json_pack("{s:s, s:s}", "status", "unavailable", "missing", missing));
    } else {
        reply_json(x, 200, json_pack("{s:s, s:I}", "status", "ok", "models", (json_int_t)usable));
    }
    if (set)
        served_release(set);
}

void ops_openapi(app *a, exchange *x)
{
    (void)a;
    exchange_reply(x, 200, "application/json", (const char *)openapi_text, openapi_text_size);
}

/* ---- GET /metrics: the models ---------------------------------------------------------------------------------------------- */

typedef double model_value_fn(const rapt_engine_counts *c);

static double value_running(const rapt_engine_counts *c) { return (double)c->running; }
static double value_waiting(const rapt_engine_counts *c) { return (double)c->waiting; }
static double value_slots(const rapt_engine_counts *c) { return (double)c->slots; }
static double value_kv_positions(const rapt_engine_counts *c) { return (double)c->kv_positions; }
static double value_kv_bytes(const rapt_engine_counts *c) { return (double)c->kv_bytes; }
static double value_steps(const rapt_engine_counts *c) { return (double)c->steps; }
static double value_prompt(const rapt_engine_counts *c) { return (double)c->prompt_tokens; }
static double value_cached(const rapt_engine_counts *c) { return (double)c->cached_tokens; }
static double value_generated(const rapt_engine_counts *c) { return (double)c->generated_tokens; }
static double value_proposed(const rapt_engine_counts *c) { return (double)c->proposed_tokens; }
static double value_accepted(const rapt_engine_counts *c) { return (double)c->accepted_tokens; }
static double value_done(const rapt_engine_counts *c) { return (double)c->done; }
static double value_cancelled(const rapt_engine_counts *c) { return (double)c->cancelled; }
static double value_failed(const rapt_engine_counts *c) { return (double)c->failed; }
static double value_busy(const rapt_engine_counts *c) { return c->busy_seconds; }

typedef struct model_metric {
    const char *name, *type, *help;
    model_value_fn *value;
} model_metric;

static const model_metric MODEL_METRICS[] = {
    {"rapt_jobs_running", "gauge", "Requests that a model works on.", value_running},
    {"rapt_jobs_waiting", "gauge", "Requests that wait for a model.", value_waiting},
    {"rapt_slots", "gauge", "Texts that a language model can generate together.", value_slots},
    {"rapt_kv_cache_positions", "gauge", "Positions of the KV cache that running texts have reserved.", value_kv_positions},
    {"rapt_kv_cache_bytes", "gauge", "Bytes of the KV cache that running texts have reserved.", value_kv_bytes},
    {"rapt_steps_total", "counter", "Steps of a language model, or batches of translations.", value_steps},
    {"rapt_prompt_tokens_total", "counter", "Tokens of prompts that were computed.", value_prompt},
    {"rapt_cached_tokens_total", "counter", "Tokens of prompts that were found in cached prefixes.", value_cached},
    {"rapt_generated_tokens_total", "counter", "Tokens that were generated, including translations.", value_generated},
    {"rapt_lookup_proposed_tokens_total", "counter", "Tokens that prompt lookup computed ahead.", value_proposed},
    {"rapt_lookup_accepted_tokens_total", "counter", "Of these, tokens that became part of a text.", value_accepted},
    {"rapt_jobs_done_total", "counter", "Requests that a model has finished.", value_done},
    {"rapt_jobs_cancelled_total", "counter", "Requests that were cancelled, mostly by clients that hung up.", value_cancelled},
    {"rapt_jobs_failed_total", "counter", "Requests that failed.", value_failed},
    {"rapt_busy_seconds_total", "counter", "Time in which steps of a model were computed.", value_busy}};

static void put_models(const served_set *set, buffer_writer *to)
{
    for (size_t i = 0; i < sizeof MODEL_METRICS / sizeof *MODEL_METRICS; i++) {
        const model_metric *m = &MODEL_METRICS[i];
        metrics_write_head(to, m->name, m->type, m->help);
        for (size_t j = 0; j < set->count; j++) {
            rapt_engine_counts counts = rapt_engine_model_counts(set->models[j].model);
            metrics_write_sample(to, m->name, "model", set->models[j].name, m->value(&counts));
        }
    }
}

/* ---- GET /metrics: the process, under the names that all programs have them ------------------------------------------------ */

static void put_process_metric(buffer_writer *to, const char *name, const char *type, const char *help, double value)
{
    metrics_write_head(to, name, type, help);
    metrics_write_sample(to, name, NULL, NULL, value);
}

/* Bytes that are in memory; 0: unknown. */
static double resident_bytes(void)
{
    unsigned long pages = 0;
    FILE *from = fopen("/proc/self/statm", "re");
    if (!from || fscanf(from, "%*u %lu", &pages) != 1)
        pages = 0;
    if (from)
        fclose(from);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* Without the one that reads them; 0: unknown. */
static double open_descriptors(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    for (const struct dirent *entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder))
        count += entry->d_name[0] != '.';
    if (folder)
        closedir(folder);
    return count > 0 ? (double)(count - 1) : 0;
}

/* Start of the process in ticks since the machine started: field 22 of /proc/self/stat. Count from the last ")", because the name
 * before it may have any characters. */
static double start_seconds(void)
{
    char line[1024];
    unsigned long long ticks = 0;
    struct timespec now, up;
    FILE *from = fopen("/proc/self/stat", "re");
    const char *text = from && fgets(line, sizeof line, from) ? strrchr(line, ')') : NULL;
    if (from)
        fclose(from);
    static const char form[] = ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu";
    if (!text || sscanf(text, form, &ticks) != 1 ||
        clock_gettime(CLOCK_REALTIME, &now) != 0 || clock_gettime(CLOCK_BOOTTIME, &up) != 0)
        return 0;
    const double booted = (double)now.tv_sec - (double)up.tv_sec + ((double)now.tv_nsec - (double)up.tv_nsec) * 1e-9;
    return booted + (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

static double processor_seconds(void)
{
    struct timespec used;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0 ? (double)used.tv_sec + (double)used.tv_nsec * 1e-9 : 0;
}

static void put_memory(app *a, buffer_writer *to)
{
    size_t largest;
    const size_t given = app_memory(a, &largest);
    put_process_metric(to, "rapt_requests_memory_bytes", "gauge", "Memory that present requests are expected to take.",
                       (double)given);
    put_process_metric(to, "rapt_request_memory_largest_bytes", "gauge", "The most that a request was expected to take.",
                       (double)largest);
}

static void put_process(buffer_writer *to)
{
    put_process_metric(to, "process_cpu_seconds_total", "counter", "Time of the processors that was used.", processor_seconds());
    put_process_metric(to, "process_resident_memory_bytes", "gauge", "Memory that is in use.", resident_bytes());
    put_process_metric(to, "process_open_fds", "gauge", "Open file descriptors.", open_descriptors());
    put_process_metric(to, "process_start_time_seconds", "gauge", "When the process started, since 1970.", start_seconds());
}

static void put_damage(const served_set *set, buffer_writer *to)
{
    metrics_write_head(to, "rapt_model_damaged", "gauge", "1 if a file of the model was truncated while it is mapped.");
    for (size_t i = 0; i < set->count; i++)
        metrics_write_sample(to, "rapt_model_damaged", "model", set->models[i].name, served_damage(&set->models[i]) != NULL);
}

void ops_metrics(app *a, exchange *x)
{
    static const char type[] = "text/plain; version=0.0.4; charset=utf-8";
    buffer_writer to = {0};
    served_set *set = app_models(a);
    metrics_write_head(&to, "rapt_build_info", "gauge", "The version that runs; always 1.");
    metrics_write_sample(&to, "rapt_build_info", "version", rapt_version(), 1);
    metrics_write_head(&to, "rapt_ready", "gauge", "Whether requests are taken.");
    metrics_write_sample(&to, "rapt_ready", NULL, NULL, app_is_ready(a));
    metrics_write(app_metrics(a), &to);
    if (set) {
        put_models(set, &to);
        put_damage(set, &to);
    }
    put_memory(a, &to);
    put_process(&to);
    if (!to.failed)
        exchange_reply(x, 200, type, to.bytes.data, to.bytes.size);
    else
        reply_json(x, 503, NULL);
    buffer_free(&to.bytes);
    if (set)
        served_release(set);
}
