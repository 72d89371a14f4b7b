/* serve/module/serve_metrics.c: counters and histograms of the server. The format: prometheus.io/docs, "Exposition formats",
 * version 0.0.4. Rows are few and searched one by one; a lock guards them. */
#define _GNU_SOURCE
#include "serve/module/serve_metrics.h"

#include "base/number.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

enum { MAX_ROWS = 64, BOUNDS = 16, MIN_STATUS = 100, STATUSES = 500 };

/* Upper bounds of the buckets, in seconds. */
static const double BOUND[BOUNDS] = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
static const char OTHER[] = "other";

typedef struct histogram {
    uint64_t in[BOUNDS + 1]; /* observations in each bucket alone, the last one beyond all bounds */
    double sum;
} histogram;

typedef struct route_row {
    char *route;
    uint64_t by_status[STATUSES];
    histogram seconds;
} route_row;

typedef struct model_row {
    char *model;
    histogram first, next;
} model_row;

typedef struct owner_row {
    char *owner;
    uint64_t count;
} owner_row;

/* Rows are made when they are needed; row 0 counts all others. */
struct metrics {
    pthread_mutex_t lock;
    route_row *routes[MAX_ROWS];
    model_row *models[MAX_ROWS];
    owner_row owners[MAX_ROWS]; /* row 0 has no name */
    size_t route_count, model_count;
    uint64_t translated;
};

/* ---- counting --------------------------------------------------------------------------------------------------------- */

static void observe(histogram *h, double seconds)
{
    size_t i = 0;
    while (i < BOUNDS && seconds > BOUND[i])
        i++;
    h->in[i]++;
    h->sum += seconds;
}

/* The row of a route, possibly a new one; row 0 if there is no room. */
static route_row *route_row_of(metrics *m, const char *route)
{
    for (size_t i = 0; i < m->route_count; i++)
        if (strcmp(m->routes[i]->route, route) == 0)
            return m->routes[i];
    route_row *row = m->route_count < MAX_ROWS ? calloc(1, sizeof *row) : NULL;
    if (row && !(row->route = strdup(route))) {
        free(row);
        row = NULL;
    }
    if (!row)
        return m->routes[0];
    return m->routes[m->route_count++] = row;
}

static model_row *model_row_of(metrics *m, const char *model)
{
    for (size_t i = 0; i < m->model_count; i++)
        if (strcmp(m->models[i]->model, model) == 0)
            return m->models[i];
    model_row *row = m->model_count < MAX_ROWS ? calloc(1, sizeof *row) : NULL;
    if (row && !(row->model = strdup(model))) {
        free(row);
        row = NULL;
    }
    if (!row)
        return m->models[0];
    return m->models[m->model_count++] = row;
}

metrics *metrics_new(void)
{
    metrics *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    if (pthread_mutex_init(&m->lock, NULL) != 0) {
        free(m);
        return NULL;
    }
    route_row_of(m, OTHER);
    model_row_of(m, OTHER);
    if (m->route_count == 1 && m->model_count == 1)
        return m;
    metrics_free(m);
    return NULL;
}

void metrics_free(metrics *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->route_count; i++) {
        free(m->routes[i]->route);
        free(m->routes[i]);
    }
    for (size_t i = 0; i < m->model_count; i++) {
        free(m->models[i]->model);
        free(m->models[i]);
    }
    for (size_t i = 0; i < MAX_ROWS; i++)
        free(m->owners[i].owner);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

void metrics_owner_asked(metrics *m, const char *owner)
{
    size_t i = 1;
    if (!*owner)
        return;
    pthread_mutex_lock(&m->lock);
    while (i < MAX_ROWS && m->owners[i].owner && strcmp(m->owners[i].owner, owner) != 0)
        i++;
    if (i < MAX_ROWS && !m->owners[i].owner)
        m->owners[i].owner = strdup(owner);
    m->owners[i < MAX_ROWS && m->owners[i].owner ? i : 0].count++;
    pthread_mutex_unlock(&m->lock);
}

void metrics_answered(metrics *m, const char *route, int status, double seconds)
{
    pthread_mutex_lock(&m->lock);
    route_row *row = route_row_of(m, route);
    if (status >= MIN_STATUS && status < MIN_STATUS + STATUSES)
        row->by_status[status - MIN_STATUS]++;
    observe(&row->seconds, seconds);
    pthread_mutex_unlock(&m->lock);
}

void metrics_first_token(metrics *m, const char *model, double seconds)
{
    pthread_mutex_lock(&m->lock);
    observe(&model_row_of(m, model)->first, seconds);
    pthread_mutex_unlock(&m->lock);
}

void metrics_next_token(metrics *m, const char *model, double seconds)
{
    pthread_mutex_lock(&m->lock);
    observe(&model_row_of(m, model)->next, seconds);
    pthread_mutex_unlock(&m->lock);
}

void metrics_translated(metrics *m, size_t characters)
{
    pthread_mutex_lock(&m->lock);
    m->translated += characters;
    pthread_mutex_unlock(&m->lock);
}

uint64_t metrics_translated_characters(metrics *m)
{
    pthread_mutex_lock(&m->lock);
    uint64_t characters = m->translated;
    pthread_mutex_unlock(&m->lock);
    return characters;
}

/* ---- writing ------------------------------------------------------------------------------------------------------------ */

/* A label's value: backslash, quotation mark and line feed have a backslash before them. */
static void put_label(buffer_writer *to, char before, const char *name, const char *value)
{
    buffer_print(to, "%c%s=\"", before, name);
    for (; *value; value++)
        buffer_print(to, strchr("\\\"\n", *value) ? "\\%c" : "%c", *value == '\n' ? 'n' : *value);
    buffer_print(to, "\"");
}

static void metrics_put_number(buffer_writer *to, const char *before, double number)
{
    char text[NUMBER_TEXT];
    number_write(number, text);
    buffer_print(to, "%s %s\n", before, text);
}

void metrics_write_head(buffer_writer *to, const char *name, const char *type, const char *help)
{
    buffer_print(to, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void metrics_write_sample(buffer_writer *to, const char *name, const char *label, const char *label_value, double number)
{
    buffer_print(to, "%s", name);
    if (label)
        put_label(to, '{', label, label_value);
    metrics_put_number(to, label ? "}" : "", number);
}

/* A sample whose second label is a number or "+Inf". */
static void put_sample_of_two(buffer_writer *to, const char *name, const char *label, const char *value, const char *second,
                              const char *number, double sample)
{
    buffer_print(to, "%s", name);
    put_label(to, '{', label, value);
    put_label(to, ',', second, number);
    metrics_put_number(to, "}", sample);
}

static void put_histogram(buffer_writer *to, const char *name, const char *label, const char *value, const histogram *h)
{
    char part[96], bound[NUMBER_TEXT];
    uint64_t count = 0;
    snprintf(part, sizeof part, "%s_bucket", name);
    for (size_t i = 0; i <= BOUNDS; i++) {
        count += h->in[i];
        if (i < BOUNDS)
            number_write(BOUND[i], bound);
        put_sample_of_two(to, part, label, value, "le", i < BOUNDS ? bound : "+Inf", (double)count);
    }
    snprintf(part, sizeof part, "%s_sum", name);
    metrics_write_sample(to, part, label, value, h->sum);
    snprintf(part, sizeof part, "%s_count", name);
    metrics_write_sample(to, part, label, value, (double)count);
}

static void put_requests(const metrics *m, buffer_writer *to)
{
    static const char name[] = "rapt_http_requests_total", seconds[] = "rapt_http_request_duration_seconds";
    char status[16];
    metrics_write_head(to, name, "counter", "Requests that were answered, by route and status.");
    for (size_t i = 0; i < m->route_count; i++)
        for (int s = 0; s < STATUSES; s++)
            if (m->routes[i]->by_status[s] > 0) {
                snprintf(status, sizeof status, "%d", MIN_STATUS + s);
                put_sample_of_two(to, name, "route", m->routes[i]->route, "status", status, (double)m->routes[i]->by_status[s]);
            }
    metrics_write_head(to, seconds, "histogram", "Time from a request to the end of its response.");
    for (size_t i = 0; i < m->route_count; i++)
        put_histogram(to, seconds, "route", m->routes[i]->route, &m->routes[i]->seconds);
}

static void put_owners(const metrics *m, buffer_writer *to)
{
    static const char name[] = "rapt_http_requests_by_key_total";
    metrics_write_head(to, name, "counter", "Requests that were answered, by the owner of their key.");
    for (size_t i = 0; i < MAX_ROWS; i++)
        if (m->owners[i].count > 0)
            metrics_write_sample(to, name, "key", i ? m->owners[i].owner : OTHER, (double)m->owners[i].count);
}

static void put_token_times(const metrics *m, buffer_writer *to)
{
    static const char first[] = "rapt_time_to_first_token_seconds", next[] = "rapt_inter_token_latency_seconds";
    metrics_write_head(to, first, "histogram", "Time from a request for a text to its first token.");
    for (size_t i = 0; i < m->model_count; i++)
        put_histogram(to, first, "model", m->models[i]->model, &m->models[i]->first);
    metrics_write_head(to, next, "histogram", "Time from one token of a text to the next.");
    for (size_t i = 0; i < m->model_count; i++)
        put_histogram(to, next, "model", m->models[i]->model, &m->models[i]->next);
}

void metrics_write(metrics *m, buffer_writer *to)
{
    static const char translated[] = "rapt_translated_characters_total";
    pthread_mutex_lock(&m->lock);
    put_requests(m, to);
    put_owners(m, to);
    put_token_times(m, to);
    metrics_write_head(to, translated, "counter", "Code points of the texts that were translated.");
    metrics_write_sample(to, translated, NULL, NULL, (double)m->translated);
    pthread_mutex_unlock(&m->lock);
}
