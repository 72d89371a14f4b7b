/* serve/module/http_check.c: checks a header by RFC 9110 and 9112. Each refusal has a name, and a test by that name. */
#include "serve/module/http_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct header_seen {
    size_t lengths, encodings, hosts;
    bool bad_name, bad_value, bad_encoding, bad_host, bad_length, bad_line, other_host, packed;
    const http_line *line;
    const char *at; /* where the next line must begin in the library's buffer; NULL: not checked */
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

/* RFC 9110, section 5.5: no control characters except tabs. A CR in the middle of a line is a control character. */
static bool is_value(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (((unsigned char)text[i] < ' ' && text[i] != '\t') || text[i] == 0x7f)
            return false;
    return true;
}

static bool is_target(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text <= ' ' || *text == 0x7f)
            return false;
    return true;
}

/* Whether a target with an authority is for the host that Host has (RFC 9112, section 3.2.2). */
static bool is_for_host(const char *target, const char *host, size_t size)
{
    const char *authority = strncasecmp(target, "http://", 7) == 0 ? target + 7
                            : strncasecmp(target, "https://", 8) == 0 ? target + 8 : NULL;
    return !authority || (strcspn(authority, "/?#") == size && strncasecmp(authority, host, size) == 0);
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

/* Whether other programs may take a name for the name of a framing field: CGI cannot tell "Content_Length" from it. */
static bool resembles(const char *name, size_t size, const char *known)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        const char lower = (char)(name[i] | 0x20);
        if (lower < 'a' || lower > 'z')
            continue;
        while (known[n] == '-')
            n++;
        if ((known[n++] | 0x20) != lower)
            return false;
    }
    return known[n] == '\0';
}

/* Whether a line is exactly "NAME:VALUE" and CR LF, at the place where it must be. */
static bool is_next_line(header_seen *s, const char *name, size_t name_size, const char *value, size_t value_size)
{
    const char *colon = name + name_size;
    if (name != s->at || value != colon + 1 + strspn(colon + 1, " \t"))
        return false;
    s->at = value + value_size + 2;
    return true;
}

static enum MHD_Result see_field(void *context, enum MHD_ValueKind kind, const char *name, size_t name_size, const char *value,
                                 size_t value_size)
{
    header_seen *s = context;
    (void)kind;
    value = value ? value : "";
    s->bad_name = s->bad_name || !is_token(name, name_size);
    s->bad_value = s->bad_value || !is_value(value, value_size);
    s->bad_line = s->bad_line || (s->at && !is_next_line(s, name, name_size, value, value_size));
    if (is_name(name, name_size, "Content-Length")) {
        s->lengths++;
        s->bad_length = s->bad_length || !read_length(value, value_size, &s->framing->length);
    } else if (is_name(name, name_size, "Transfer-Encoding")) {
        s->encodings++;
        s->bad_encoding = s->bad_encoding || !is_name(value, value_size, "chunked");
    } else if (is_name(name, name_size, "Host")) {
        s->hosts++;
        s->bad_host = s->bad_host || !is_host(value, value_size);
        s->other_host = s->other_host || !is_for_host(s->line->target, value, value_size);
    } else if (is_name(name, name_size, "Content-Encoding"))
        s->packed = s->packed || !is_name(value, value_size, "identity");
    else if (resembles(name, name_size, "Content-Length") || resembles(name, name_size, "Transfer-Encoding"))
        s->bad_name = true;
    return MHD_YES;
}

static http_problem bad_request(const char *code, const char *message)
{
    return (http_problem){400, code, message};
}

bool http_check_is_strict(void)
{
    return strncmp(MHD_get_version(), "0.", 2) != 0;
}

/* Version 0.9 silently takes a bare LF for the end of a line, a folded line for part of a name, and a NUL for the end of a value.
 * But its fields stay where they came, line by line: so each must begin where the one before must end. This also shows that no
 * field was copied elsewhere, and that the header is as long as its lines. */
static const char *first_line_end(const http_line *line)
{
    return http_check_is_strict() ? NULL : line->version + strlen(line->version) + 2;
}

static bool lines_are_plain(struct MHD_Connection *connection, const http_line *line, const header_seen *s)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return !s->bad_line && line->raw_target == line->method + strlen(line->method) + 1 &&
           line->version == line->raw_target + strlen(line->target) + 1 && info && s->at + 2 == line->method + info->header_size;
}

/* Checks the form of the lines before their meaning: a malformed line could have hidden the rest. */
static http_problem check_lines(struct MHD_Connection *connection, const http_line *line, const header_seen *s)
{
    const bool old = strcmp(line->version, MHD_HTTP_VERSION_1_0) == 0;
    if (!old && strcmp(line->version, MHD_HTTP_VERSION_1_1) != 0)
        return (http_problem){505, "http_version", "only HTTP/1.1 and HTTP/1.0 are spoken here"};
    if (s->bad_name)
        return bad_request("header_name", "the name of a header field is no token, or is another writing of Content-Length or "
                                          "Transfer-Encoding");
    if (s->bad_value)
        return bad_request("header_value", "the value of a header field has a control character");
    if (s->at && !lines_are_plain(connection, line, s))
        return bad_request("header_line", "a line of the header is folded, does not end with CR LF, or has a NUL");
    if (!is_token(line->method, strlen(line->method)))
        return bad_request("method", "the method is no token");
    if (!is_target(line->target))
        return bad_request("target", "the target of the request has a space or a control character");
    return (http_problem){0};
}

http_problem http_check(struct MHD_Connection *connection, const http_line *line, http_framing *framing)
{
    *framing = (http_framing){0};
    header_seen s = {.line = line, .at = first_line_end(line), .framing = framing};
    const bool old = strcmp(line->version, MHD_HTTP_VERSION_1_0) == 0;
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, see_field, &s);
    framing->has_length = s.lengths > 0;
    framing->is_chunked = s.encodings > 0;
    const http_problem wrong = check_lines(connection, line, &s);
    if (wrong.status)
        return wrong;
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
    if (s.other_host)
        return bad_request("other_host", "the target of the request and Host name different hosts");
    if (s.packed)
        return (http_problem){415, "content_encoding", "a Content-Encoding is not decoded: send the body as it is"};
    return (http_problem){0};
}
