/* serve/module/http_check.h: refuses requests that libmicrohttpd accepts and HTTP forbids. If a proxy in front reads such a
 * request differently, its rest becomes another client's request ("request smuggling"). The body is not seen here: the library
 * reads chunks, version 0.9 with bare LFs, so that a request with chunks has to be the last of its connection. For http.c. */
#ifndef SERVE_MODULE_HTTP_CHECK_H
#define SERVE_MODULE_HTTP_CHECK_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a request is refused. */
typedef struct http_problem {
    int status;          /* 0: it is not */
    const char *code;    /* "several_content_lengths" */
    const char *message; /* a sentence */
} http_problem;

typedef struct http_framing {
    bool has_length, is_chunked;
    uint64_t length; /* Content-Length; the largest number if it does not fit */
} http_framing;

/* The first line of a request. `raw_target` is in the library's buffer, where it is decoded in place; `target` is as it came. */
typedef struct http_line {
    const char *method, *raw_target, *target, *version;
} http_line;

/* Whether libmicrohttpd can be told to be strict about lines: since version 1. Version 0.9 with that option refuses a missing
 * Host alone, and sends the header of its response twice. */
bool http_check_is_strict(void);

/* Checks lines, names and framing of a request whose header was read. */
http_problem http_check(struct MHD_Connection *connection, const http_line *line, http_framing *framing);

#endif
