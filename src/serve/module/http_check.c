/* serve/module/http_check.c: see http_check.h. RFC 9110 and 9112; each refusal has a name, and a test by that name. */
#include "serve/module/http_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct header_seen {
    size_t lengths, encodings, hosts;
    bool bad_name, bad_encoding, bad_host, bad_length, packed;
    http_framing *framing;
} header_seen;

/* RFC 9110, section 5.6.2. */
static bool is_token(const char *text, size_t size)
{
    static const char others[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < size; i++) {
        const char c = text[i], lower = (char)(c | 0x20);
        if (!c || !((lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || strchr(others, c)))
            return false;
    }
    return size > 0;
}

/* A name, an IPv4 or [IPv6] address, and maybe a port. */
static bool is_host(const char *text, size_t size)
{
    static const char others[] = "-._~%!$&'()*+,;=:[]";
    for (size_t i = 0; i < size; i++) {
        const char c = text[i], lower = (char)(c | 0x20);
        if (!c || !((lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || strchr(others, c)))
            return false;
    }
    return size > 0;
}

static bool read_length(const char *text, size_t size, uint64_t *length)
{
    if (size == 0 || strspn(text, "0123456789") != size)
        return false;
    errno = 0;
    *length = strtoull(text, NULL, 10);
    return errno == 0;
}

static bool is_name(const char *name, size_t size, const char *known)
{
    return size == strlen(known) && strncasecmp(name, known, size) == 0;
}

static enum MHD_Result see_field(void *context, enum MHD_ValueKind kind, const char *name, size_t name_size, const char *value,
                                 size_t value_size)
{
    header_seen *s = context;
    (void)kind;
    value = value ? value : "";
    s->bad_name = s->bad_name || !is_token(name, name_size);
    if (is_name(name, name_size, "Content-Length")) {
        s->lengths++;
        s->bad_length = s->bad_length || !read_length(value, value_size, &s->framing->length);
    } else if (is_name(name, name_size, "Transfer-Encoding")) {
        s->encodings++;
        s->bad_encoding = s->bad_encoding || !is_name(value, value_size, "chunked");
    } else if (is_name(name, name_size, "Host")) {
        s->hosts++;
        s->bad_host = s->bad_host || !is_host(value, value_size);
    } else if (is_name(name, name_size, "Content-Encoding"))
        s->packed = s->packed || !is_name(value, value_size, "identity");
    return MHD_YES;
}

static http_problem bad_request(const char *code, const char *message)
{
    return (http_problem){400, code, message};
}

http_problem http_check(struct MHD_Connection *connection, const char *version, http_framing *framing)
{
    *framing = (http_framing){0};
    header_seen s = {.framing = framing};
    const bool old = strcmp(version, MHD_HTTP_VERSION_1_0) == 0;
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, see_field, &s);
    framing->has_length = s.lengths > 0;
    if (!old && strcmp(version, MHD_HTTP_VERSION_1_1) != 0)
        return (http_problem){505, "http_version", "only HTTP/1.1 and HTTP/1.0 are spoken here"};
    if (s.bad_name)
        return bad_request("header_name", "the name of a header field is no token: a space before its colon, for instance");
    if (s.lengths && s.encodings)
        return bad_request("content_length_with_transfer_encoding", "Content-Length and Transfer-Encoding exclude each other");
    if (s.lengths > 1)
        return bad_request("several_content_lengths", "there is more than one Content-Length");
    if (s.bad_length)
        return bad_request("content_length", "Content-Length is not a number");
    if (s.encodings > 1)
        return bad_request("several_transfer_encodings", "there is more than one Transfer-Encoding");
    if (s.bad_encoding)
        return bad_request("transfer_encoding", "the only Transfer-Encoding that is read is chunked");
    if (s.encodings && old)
        return bad_request("transfer_encoding_in_http_1_0", "HTTP/1.0 has no Transfer-Encoding");
    if (s.hosts > 1)
        return bad_request("several_hosts", "there is more than one Host");
    if (s.hosts == 0 && !old)
        return bad_request("missing_host", "there is no Host");
    if (s.bad_host)
        return bad_request("host", "Host is not the name of a host");
    if (s.packed)
        return (http_problem){415, "content_encoding", "a Content-Encoding is not decoded: send the body as it is"};
    return (http_problem){0};
}
