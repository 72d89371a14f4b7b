/* serve/module/http_check.h: what libmicrohttpd 0.9.75 lets pass and HTTP forbids. Behind a proxy that reads such a request in
 * another way, its rest would be a request of somebody else ("request smuggling"). What the library does not show cannot be
 * refused here: lines that end with a bare LF, which RFC 9112 allows, and what follows a NUL in a line. For http.c. */
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
    bool has_length;
    uint64_t length; /* of Content-Length; as much as fits */
} http_framing;

/* Checks version, names and framing of a request whose header was read. */
http_problem http_check(struct MHD_Connection *connection, const char *version, http_framing *framing);

#endif
