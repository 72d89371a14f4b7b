/* serve/module/serve_log.c: makes log lines, which go through log_queue.c. */
#define _GNU_SOURCE
#include "serve/module/serve_log.h"

#include "base/buffer.h"
#include "base/number.h"
#include "base/quote.h"
#include "text/json_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { TIME_TEXT = 32, MESSAGE = 1024 };

/* "2026-11-26T01:02:03.456Z" */
static void write_time(char text[TIME_TEXT])
{
    struct timespec now;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    const size_t size = strftime(text, TIME_TEXT, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text + size, TIME_TEXT - size, ".%03ldZ", now.tv_nsec / 1000000);
}

/* A line that could not be made is lost: there is no place to report it. */
static void write_line(const char *text)
{
    buffer line = {0};
    if (text && buffer_append(&line, text, strlen(text)) && buffer_append(&line, "\n", 1))
        log_queue_put(line.data, line.size);
    else
        buffer_free(&line);
}

static void write_object(json_t *o)
{
    char *text = json_text(o, JSON_COMPACT | JSON_REAL_PRECISION(9));
    write_line(text);
    free(text);
    json_decref(o);
}

int serve_log_status(const http_report *report)
{
    return report->status ? report->status : report->ended && strcmp(report->ended, "drain") == 0 ? 503 : 499;
}

static double round_ms(double seconds)
{
    return round(seconds * 1e6) / 1e3;
}

static void serve_log_json(const http_report *r)
{
    char time[TIME_TEXT];
    const char *name, *model = r->x ? exchange_model(r->x) : "", *route = r->x ? exchange_route(r->x) : NULL;
    double value;
    write_time(time);
    json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:f, s:I}", "time", time, "level", "info", "id",
                          r->x ? exchange_id(r->x) : "", "address", r->address, "method", quote(r->method).text, "route",
                          route ? route : "other", "status", serve_log_status(r), "ms", round_ms(r->seconds), "bytes",
                          (json_int_t)r->bytes);
    if (r->x && *exchange_owner(r->x))
        json_object_set_new(o, "key", json_string(exchange_owner(r->x)));
    if (*model)
        json_object_set_new(o, "model", json_string(model));
    if (r->ended)
        json_object_set_new(o, "ended", json_string(r->ended));
    for (size_t i = 0; r->x && exchange_noted(r->x, i, &name, &value); i++)
        json_object_set_new(o, name, value == floor(value) && fabs(value) < 1e15 ? json_integer((json_int_t)value)
                                                                                 : json_real(value));
    write_object(o);
}

static void serve_log_text(const http_report *r)
{
    char time[TIME_TEXT], line[MESSAGE], number[NUMBER_TEXT];
    const char *name, *model = r->x ? exchange_model(r->x) : "", *route = r->x ? exchange_route(r->x) : NULL;
    const char *owner = r->x ? exchange_owner(r->x) : "";
    double value;
    write_time(time);
    int size = snprintf(line, sizeof line, "%s %s %s %s %d %.3f ms %zu bytes%s%s%s%s%s%s", time, r->address,
                        quote(r->method).text, route ? route : "other", serve_log_status(r), r->seconds * 1e3, r->bytes,
                        *owner ? " key=" : "", owner, *model ? " model=" : "", model,
                        r->ended ? " ended=" : "", r->ended ? r->ended : "");
    for (size_t i = 0; r->x && exchange_noted(r->x, i, &name, &value) && size < MESSAGE - 80; i++) {
        number_write(value, number);
        size += snprintf(line + size, sizeof line - (size_t)size, " %s=%s", name, number);
    }
    write_line(line);
}

void serve_log_request(serve_log format, const http_report *report)
{
    if (format == SERVE_LOG_JSON)
        serve_log_json(report);
    else if (format == SERVE_LOG_TEXT)
        serve_log_text(report);
}

void serve_log_event(serve_log format, serve_log_level level, const char *message, ...)
{
    static const char *const names[] = {"info", "warning", "error"};
    char time[TIME_TEXT], text[MESSAGE], line[MESSAGE + 64];
    va_list list;
    if (format == SERVE_LOG_NONE && level != LOG_ERROR)
        return;
    va_start(list, message);
    vsnprintf(text, sizeof text, message, list);
    va_end(list);
    quote_clean(text);
    write_time(time);
    if (format == SERVE_LOG_JSON) {
        write_object(json_pack("{s:s, s:s, s:s}", "time", time, "level", names[level], "message", text));
        return;
    }
    snprintf(line, sizeof line, "%s %s: %s", time, names[level], text);
    write_line(line);
}

/* ---- a log that nobody reads -------------------------------------------------------------------------------------- */

static serve_log lost_format;

static void report_lost(size_t lost)
{
    serve_log_event(lost_format, LOG_WARNING, "%zu lines of the log were lost: stderr was not read", lost);
}

void serve_log_start(serve_log format)
{
    lost_format = format;
    log_queue_start(report_lost);
}

void serve_log_stop(void)
{
    log_queue_stop();
}
