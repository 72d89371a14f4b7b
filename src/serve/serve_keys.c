/* serve/serve_keys.c: a table of names, kinds and limits. */
#include "serve/serve_keys.h"

#include "base/address.h"
#include "base/buffer.h"
#include "base/chars.h"
#include "base/number.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "nn/weight_types.h"
#include "text/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

typedef enum key_kind { KIND_COUNT, KIND_BYTES, KIND_SECONDS, KIND_TEXT, KIND_FLAG, KIND_TYPES, KIND_PRECISION, KIND_STORAGE,
                        KIND_LOG, KIND_ORIGIN, KIND_HOST, KIND_ADDRESS, KIND_MODE } key_kind;

typedef struct serve_key {
    const char *name;
    key_kind kind;
    size_t offset; /* offset of the field */
    double min, max;
} serve_key;

#define OPTION(name, kind, field, ...) {name, kind, .offset = offsetof(serve_options, field), __VA_ARGS__}
#define OF_MODEL(name, kind, field, ...) {name, kind, .offset = offsetof(serve_model, field), __VA_ARGS__}

enum { MILLION = 1000000 };
#define BYTES_MAX 4503599627370496.0 /* 4 PiB */
#define DAY 86400

static const serve_key KEYS[] = {
    OPTION("host", KIND_TEXT, host, 0),
    OPTION("port", KIND_COUNT, port, 0, 65535),
    OPTION("socket-mode", KIND_MODE, socket_mode, 0),
    OPTION("threads", KIND_COUNT, threads, 1, 256),
    OPTION("batch", KIND_COUNT, batch, 1, 65536),
    OPTION("chunk", KIND_COUNT, chunk, 1, MILLION),
    OPTION("no-prefix-cache", KIND_FLAG, no_prefix_cache, 0),
    OPTION("queue", KIND_COUNT, queue, 1, MILLION),
    OPTION("max-texts", KIND_COUNT, texts, 1, MILLION),
    OPTION("max-tokens", KIND_COUNT, max_tokens, 1, MILLION),
    OPTION("max-n", KIND_COUNT, n, 1, 1024),
    OPTION("max-explain", KIND_COUNT, explain, 1, MILLION),
    OPTION("no-explain", KIND_FLAG, no_explain, 0),
    OPTION("no-replay", KIND_FLAG, no_replay, 0),
    OPTION("max-body", KIND_BYTES, body, 1024, 1 << 30),
    OPTION("request-memory", KIND_BYTES, request_memory, 16 << 20, BYTES_MAX),
    OPTION("connections", KIND_COUNT, connections, 1, MILLION),
    OPTION("per-address", KIND_COUNT, per_address, 1, MILLION),
    OPTION("header-timeout", KIND_SECONDS, header_timeout, 0.1, DAY),
    OPTION("request-timeout", KIND_SECONDS, request_timeout, 0.1, DAY),
    OPTION("idle-timeout", KIND_SECONDS, idle_timeout, 0.1, DAY),
    OPTION("send-timeout", KIND_SECONDS, send_timeout, 0.1, DAY),
    OPTION("drain", KIND_SECONDS, drain, 0, DAY),
    OPTION("api-key-file", KIND_TEXT, api_key_file, 0),
    OPTION("tls-cert", KIND_TEXT, tls_cert, 0),
    OPTION("tls-key", KIND_TEXT, tls_key, 0),
    OPTION("lesson", KIND_TEXT, lesson, 0),
    OPTION("cors", KIND_ORIGIN, cors, 0),
    OPTION("allowed-host", KIND_HOST, hosts, 0),
    OPTION("trusted-proxy", KIND_ADDRESS, proxies, 0),
    OPTION("log", KIND_LOG, log, 0),
};

static const serve_key MODEL_KEYS[] = {
    OF_MODEL("path", KIND_TEXT, path, 0),
    OF_MODEL("source", KIND_TEXT, source, 0),
    OF_MODEL("target", KIND_TEXT, target, 0),
    OF_MODEL("weights", KIND_TYPES, weights, 0),
    OF_MODEL("precision", KIND_PRECISION, precision, 0),
    OF_MODEL("kv-cache", KIND_STORAGE, kv_cache, 0),
    OF_MODEL("slots", KIND_COUNT, slots, 1, 65536),
    OF_MODEL("kv-memory", KIND_BYTES, kv_memory, 1024, BYTES_MAX),
};

enum { KEY_COUNT = sizeof KEYS / sizeof *KEYS, MODEL_KEY_COUNT = sizeof MODEL_KEYS / sizeof *MODEL_KEYS, FIRST_FOR_ALL = 3 };

bool serve_options_default(serve_options *o)
{
    *o = (serve_options){.port = 8080, .queue = 256, .texts = 10000, .n = 32, .explain = 128, .body = 1 << 20,
                         .request_memory = (size_t)128 << 20, .connections = 1000, .header_timeout = 10, .request_timeout = 60,
                         .idle_timeout = 60, .send_timeout = 60, .drain = 30};
    o->host = chars_copy("127.0.0.1");
    return o->host != NULL;
}

static void free_model(serve_model *m)
{
    free(m->name);
    free(m->path);
    free(m->source);
    free(m->target);
    free(m->weights);
}

static void free_list(serve_list *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->at[i]);
    free(l->at);
}

void serve_options_free(serve_options *o)
{
    for (size_t i = 0; i < o->model_count; i++)
        free_model(&o->models[i]);
    free_list(&o->cors);
    free_list(&o->hosts);
    free_list(&o->proxies);
    free_model(&o->all);
    free(o->models);
    free(o->host);
    free(o->api_key_file);
    free(o->tls_cert);
    free(o->tls_key);
    free(o->lesson);
    *o = (serve_options){0};
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

RAPT_PRINTF(2, 3)
static rapt_code refuse_value(char reason[SERVE_REASON], const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(reason, SERVE_REASON, format, list);
    va_end(list);
    return RAPT_ERR_VALUE;
}

static rapt_code refuse_key_number(const serve_key *k, const char *text, const char *what, char reason[SERVE_REASON])
{
    char low[NUMBER_TEXT], high[NUMBER_TEXT];
    number_write(k->min, low);
    number_write(k->max, high);
    return refuse_value(reason, "'%s' is not %s from %s to %s", quote(text).text, what, low, high);
}

static rapt_code set_count(const serve_key *k, size_t *to, const char *text, char reason[SERVE_REASON])
{
    char *end;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || (double)value < k->min || (double)value > k->max)
        return refuse_key_number(k, text, "a whole number", reason);
    *to = (size_t)value;
    return RAPT_OK;
}

/* "512M", "1.5 GB", "2Gi": decimal units, or binary units with an i. */
static rapt_code set_bytes(const serve_key *k, size_t *to, const char *text, char reason[SERVE_REASON])
{
    static const char units[] = "kMGT";
    char *end;
    double value = number_read(text, &end);
    const bool read = end != text;
    end += *end == ' ';
    const char *unit = *end ? strchr(units, *end == 'K' ? 'k' : *end) : NULL;
    if (unit) {
        const bool binary = end[1] == 'i';
        for (const char *u = units; u <= unit; u++)
            value *= binary ? 1024 : 1000;
        end += 1 + binary;
    }
    end += *end == 'B';
    if (!read || *end || !(value >= k->min && value <= k->max))
        return refuse_key_number(k, text, "a size in bytes (512M, 2GB, 1.5GiB)", reason);
    *to = (size_t)value;
    return RAPT_OK;
}

static rapt_code set_seconds(const serve_key *k, double *to, const char *text, char reason[SERVE_REASON])
{
    char *end;
    const double value = number_read(text, &end);
    if (end == text || *end || !(value >= k->min && value <= k->max))
        return refuse_key_number(k, text, "a number of seconds", reason);
    *to = value;
    return RAPT_OK;
}

static rapt_code set_key_text(char **to, const char *text, char reason[SERVE_REASON])
{
    if (!*text)
        return refuse_value(reason, "is empty");
    char *copy = chars_copy(text);
    if (!copy)
        return RAPT_ERR_MEMORY;
    free(*to);
    *to = copy;
    return RAPT_OK;
}

static rapt_code set_types(serve_model *m, const char *text, char reason[SERVE_REASON])
{
    rapt_error err = {0};
    if (weight_types_check(text, &m->precision, &err))
        return refuse_value(reason, "%s", err.message);
    m->has_precision = true;
    return set_key_text(&m->weights, text, reason);
}

/* One of `count` words; *to is its number. */
static rapt_code choose(const char *const *words, size_t count, const char *text, int *to, char reason[SERVE_REASON])
{
    char list[128] = "";
    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i], text) == 0) {
            *to = (int)i;
            return RAPT_OK;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", words[i]);
    }
    return refuse_value(reason, "'%s' is none of %s", quote(text).text, list);
}

/* An origin as browsers send it: in lower case, without a path, user, or the port that its scheme has anyway. */
static bool is_origin(const char *text)
{
    const size_t scheme = strncmp(text, "http://", 7) == 0 ? 7 : strncmp(text, "https://", 8) == 0 ? 8 : 0;
    const char *host = text + scheme, *port = strrchr(host, ':');
    if (!scheme || !*host || *host == ':' || host[strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789.-_:[]")])
        return false;
    return !port || port[strlen(port) - 1] == ']' || (port[1] && strcmp(port, scheme == 7 ? ":80" : ":443") != 0);
}

static rapt_code add_list_text(serve_list *l, const char *text)
{
    if (!ARRAY_RESERVE(&l->at, &l->capacity, l->count + 1))
        return RAPT_ERR_MEMORY;
    char *copy = chars_copy(text);
    if (copy)
        l->at[l->count++] = copy;
    return copy ? RAPT_OK : RAPT_ERR_MEMORY;
}

static rapt_code add_origin(serve_list *l, const char *text, char reason[SERVE_REASON])
{
    if (strcmp(text, "*") != 0 && !is_origin(text))
        return refuse_value(reason, "'%s' is no origin as browsers send it, such as https://example.org: in lower case, without "
                            "a path; or *", quote(text).text);
    return add_list_text(l, text);
}

/* A name as Host has it, without its port: an address needs no permission. */
static rapt_code add_host(serve_list *l, const char *text, char reason[SERVE_REASON])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    if (strcmp(text, "*") != 0 && (!*text || text[strspn(text, letters)]))
        return refuse_value(reason, "'%s' is not the name of a host, such as rapt.example.org, without a port; or *",
                            quote(text).text);
    return add_list_text(l, text);
}

/* As the log has addresses: without a port, the shortest way of writing one of IPv6. */
static rapt_code add_address(serve_list *l, const char *text, char reason[SERVE_REASON])
{
    char address[ADDRESS_TEXT];
    if (strcmp(text, "unix") == 0)
        return add_list_text(l, text);
    if (!address_write(text, address))
        return refuse_value(reason, "'%s' is no address, such as 192.0.2.1; or unix", quote(text).text);
    return add_list_text(l, address);
}

/* "0660": octal digits, as chmod(1) has them. */
static rapt_code set_mode(size_t *to, const char *text, char reason[SERVE_REASON])
{
    const size_t size = strlen(text);
    if (size < 3 || size > 4 || strspn(text, "01234567") != size || (size == 4 && *text != '0'))
        return refuse_value(reason, "'%s' is no mode of a file, such as 0660", quote(text).text);
    *to = strtoul(text, NULL, 8);
    return *to ? RAPT_OK : refuse_value(reason, "nobody could connect");
}

/* Sets the field of `k` in a serve_options or a serve_model. */
static rapt_code set_key_field(const serve_key *k, void *in, const char *text, char reason[SERVE_REASON])
{
    static const char *const flags[] = {"false", "true"}, *const precisions[] = {"fp32", "bf16"},
                      *const storages[] = {"fp32", "bf16", "q8_0"}, *const logs[] = {"json", "text", "none"};
    void *field = (char *)in + k->offset;
    int word = 0;
    rapt_code code = RAPT_OK;
    switch (k->kind) {
    case KIND_COUNT: return set_count(k, field, text, reason);
    case KIND_BYTES: return set_bytes(k, field, text, reason);
    case KIND_SECONDS: return set_seconds(k, field, text, reason);
    case KIND_TEXT: return set_key_text(field, text, reason);
    case KIND_TYPES: return set_types(in, text, reason);
    case KIND_ORIGIN: return add_origin(field, text, reason);
    case KIND_HOST: return add_host(field, text, reason);
    case KIND_ADDRESS: return add_address(field, text, reason);
    case KIND_MODE: return set_mode(field, text, reason);
    case KIND_FLAG:
        code = choose(flags, 2, text, &word, reason);
        *(bool *)field = word;
        return code;
    case KIND_PRECISION:
        code = choose(precisions, 2, text, &word, reason);
        *(rapt_type *)field = word ? RAPT_TYPE_BF16 : RAPT_TYPE_FP32;
        ((serve_model *)in)->has_precision = true;
        free(((serve_model *)in)->weights); /* from a file: precision and weights set the same thing */
        ((serve_model *)in)->weights = NULL;
        return code;
    case KIND_STORAGE:
        code = choose(storages, 3, text, &word, reason);
        *(rapt_type *)field = (rapt_type)word;
        ((serve_model *)in)->has_kv_cache = true;
        return code;
    case KIND_LOG:
        code = choose(logs, 3, text, &word, reason);
        *(serve_log *)field = (serve_log)word;
        return code;
    }
    return RAPT_ERR_NOT_FOUND;
}

bool serve_keys_is_list(const char *name)
{
    return strcmp(name, "cors") == 0 || strcmp(name, "allowed-host") == 0 || strcmp(name, "trusted-proxy") == 0;
}

static const serve_key *find_key(const serve_key *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return &list[i];
    return NULL;
}

static rapt_code unknown_serve_key(const serve_key *list, size_t count, const char *name, char reason[SERVE_REASON])
{
    const char *names[KEY_COUNT + MODEL_KEY_COUNT];
    for (size_t i = 0; i < count; i++)
        names[i] = list[i].name;
    const char *near = suggest_nearest(name, names, count);
    refuse_value(reason, "unknown key%s%s%s", near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    return RAPT_ERR_NOT_FOUND;
}

rapt_code serve_keys_set(serve_options *o, const char *name, const char *text, char reason[SERVE_REASON])
{
    const serve_key *k = find_key(KEYS, KEY_COUNT, name);
    const serve_key *all = find_key(MODEL_KEYS + FIRST_FOR_ALL, MODEL_KEY_COUNT - FIRST_FOR_ALL, name);
    reason[0] = '\0';
    if (k)
        return set_key_field(k, o, text, reason);
    return all ? set_key_field(all, &o->all, text, reason) : unknown_serve_key(KEYS, KEY_COUNT, name, reason);
}

rapt_code serve_keys_set_model(serve_model *m, const char *name, const char *text, char reason[SERVE_REASON])
{
    const serve_key *k = find_key(MODEL_KEYS, MODEL_KEY_COUNT, name);
    reason[0] = '\0';
    return k ? set_key_field(k, m, text, reason) : unknown_serve_key(MODEL_KEYS, MODEL_KEY_COUNT, name, reason);
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

/* Names are texts of JSON, and are shown in logs, metrics and terminals as they are. */
static bool is_model_name(const char *name)
{
    const size_t size = strlen(name);
    const quoted shown = quote(name);
    for (size_t i = 0; i < size; i++) /* all characters beyond ASCII are allowed */
        if ((unsigned char)name[i] <= ' ' || name[i] == 0x7f || name[i] == '/')
            return false;
    return size > 0 && size <= 64 && utf8_valid_prefix(name, size) == size && strcmp(shown.text, name) == 0;
}

rapt_code serve_keys_add_model(serve_options *o, const char *name, const char *path, serve_model **model,
                               char reason[SERVE_REASON])
{
    reason[0] = '\0';
    if (!is_model_name(name))
        return refuse_value(reason, "'%s' cannot be the name of a model: 1 to 64 bytes of UTF-8 without spaces, controls and "
                            "slashes; write NAME=MODEL", quote(name).text);
    if (path && !*path)
        return refuse_value(reason, "the model '%s' has no path", name);
    for (size_t i = 0; i < o->model_count; i++)
        if (strcmp(o->models[i].name, name) == 0)
            return refuse_value(reason, "two models are called '%s'", name);
    if (!ARRAY_RESERVE(&o->models, &o->model_capacity, o->model_count + 1))
        return RAPT_ERR_MEMORY;
    serve_model *m = *model = &o->models[o->model_count++];
    *m = (serve_model){.name = chars_copy(name), .path = path ? chars_copy(path) : NULL};
    return m->name && (m->path || !path) ? RAPT_OK : RAPT_ERR_MEMORY;
}

rapt_code serve_keys_finish(const serve_options *o, char reason[SERVE_REASON])
{
    for (size_t i = 0; i < o->model_count; i++)
        if (!o->models[i].path)
            return refuse_value(reason, "the model '%s' has no path", o->models[i].name);
    if (!o->tls_cert != !o->tls_key)
        return refuse_value(reason, "tls-cert and tls-key are needed together");
    if (o->socket_mode && strncmp(o->host, "unix:", 5) != 0)
        return refuse_value(reason, "socket-mode is of a unix socket: host: unix:PATH");
    return o->model_count ? RAPT_OK : refuse_value(reason, "there is no model");
}
