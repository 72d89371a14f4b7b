/* serve/module/router.c: checks in this order: the name of the server, the path, the method, the site of the page that asks,
 * whether there is room, and the key. A worker reads the body: the route's function does, and before it LibreTranslate's
 * "api_key" is read. */
#define _GNU_SOURCE /* memmem */
#include "serve/module/router.h"

#include "serve/module/exchange_work.h"
#include "serve/module/fields.h"
#include "serve/module/refusal.h"

#include <string.h>
#include <strings.h>

void router_allow_origin(app *a, exchange *x)
{
    const char *origin = exchange_header(x, "Origin");
    if (origin)
        exchange_add_header(x, "Vary", "Origin");
    if (!origin || !app_allows_origin(a, origin))
        return;
    exchange_add_header(x, "Access-Control-Allow-Origin", origin);
    exchange_add_header(x, "Access-Control-Expose-Headers",
                        "X-Request-Id, X-Rapt-Version, X-Rapt-Number-Format, X-Rapt-Fingerprint, X-Rapt-Replay, Retry-After");
}

/* Also answers the preflight of browsers, before they send a request from a page of another origin. */
static void answer_options(app *a, exchange *x)
{
    char methods[64];
    const char *origin = exchange_header(x, "Origin"), *wanted = exchange_header(x, "Access-Control-Request-Headers");
    routes_methods(exchange_path(x), methods, sizeof methods);
    exchange_add_header(x, "Allow", strcmp(exchange_path(x), "*") == 0 ? "GET, HEAD, POST, DELETE, OPTIONS" : methods);
    if (origin && app_allows_origin(a, origin)) {
        exchange_add_header(x, "Access-Control-Allow-Methods", methods);
        exchange_add_header(x, "Access-Control-Allow-Headers", wanted ? wanted : "Authorization, Content-Type, X-Api-Key");
        exchange_add_header(x, "Access-Control-Max-Age", "600");
    }
    exchange_reply(x, 204, "", "", 0);
}

/* The key in a header: "Authorization: Bearer KEY" or "DeepL-Auth-Key KEY", or "X-Api-Key: KEY". NULL: there is none. */
static const char *header_key(const exchange *x)
{
    static const char *const schemes[] = {"Bearer ", "DeepL-Auth-Key "};
    const char *authorization = exchange_header(x, "Authorization");
    for (size_t i = 0; authorization && i < 2; i++) {
        const size_t size = strlen(schemes[i]);
        if (strncasecmp(authorization, schemes[i], size) == 0)
            return authorization + size + strspn(authorization + size, " ");
    }
    return exchange_header(x, "X-Api-Key");
}

static bool body_key_ok(app *a, exchange *x)
{
    request_error error = {0};
    fields f = {0};
    fields_read(&f, x, true, &error);
    const bool ok = app_key_ok(a, x, error.status ? NULL : fields_text(&f, "api_key"));
    fields_free(&f);
    return ok;
}

static void refuse_stranger(exchange *x)
{
    const bool deepl = strncmp(exchange_path(x), "/v2/", 4) == 0; /* whose clients know 403 */
    if (!deepl)
        exchange_add_header(x, "WWW-Authenticate", "Bearer");
    refusal_reply(x, deepl ? 403 : 401, "invalid_api_key", "this server asks for an API key, and this is none of them");
}

static void refuse_method(exchange *x)
{
    char methods[64];
    routes_methods(exchange_path(x), methods, sizeof methods);
    exchange_add_header(x, "Allow", methods);
    refusal_reply(x, 405, "method_not_allowed", "this path does not have that method; the header Allow says which it has");
}

typedef enum site_of_page { PAGE_FITS, PAGE_OF_ANOTHER_SITE, PAGE_HIDDEN } site_of_page;

/* The page that has sent a GET, for which a browser sends no Origin if it is an image, script or link. To plain HTTP of another
 * machine it sends no Sec-Fetch-Site either (w3.org/TR/fetch-metadata), but Referer, unless the page keeps it back. Then the
 * browser is known by User-Agent, which a page cannot change, and Accept-Language, which it cannot leave out: programs that call
 * themselves "Mozilla/5.0", as PowerShell does, send no language. */
static site_of_page page_by_referer(const app *a, const exchange *x)
{
    char page[SITE_ORIGIN];
    const char *agent = exchange_header(x, "User-Agent"), *referer = exchange_header(x, "Referer");
    const bool is_browser = agent && strncmp(agent, "Mozilla/", 8) == 0 && exchange_header(x, "Accept-Language");
    if (!referer)
        return is_browser ? PAGE_HIDDEN : PAGE_FITS;
    const char *origin = site_origin_of(referer, page);
    return app_allows_origin(a, origin) || site_is_own(origin, exchange_header(x, "Host")) ? PAGE_FITS : PAGE_OF_ANOTHER_SITE;
}

/* Decides by the browser's headers, because browsers send some requests without a preflight, and only withhold the response from
 * the page. Programs send no such headers. */
static site_of_page page_of(const app *a, const exchange *x)
{
    const char *site = exchange_header(x, "Sec-Fetch-Site"), *origin = exchange_header(x, "Origin");
    if (!site && !origin && strcmp(exchange_method(x), "POST") != 0)
        return page_by_referer(a, x);
    if (origin && app_allows_origin(a, origin))
        return PAGE_FITS;
    const bool other = (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0) ||
                       (origin && !site_is_own(origin, exchange_header(x, "Host")));
    return other ? PAGE_OF_ANOTHER_SITE : PAGE_FITS;
}

/* A page that leaves out Content-Type can send a body without a preflight. The server's own page and clients always set it. */
static bool hides_type(const exchange *x)
{
    size_t size;
    exchange_body(x, &size);
    return size && exchange_header(x, "Origin") && !exchange_header(x, "Content-Type");
}

/* Whether it is among the requests that the queue bounds. */
static bool is_counted(const route *r, const exchange *x)
{
    size_t size;
    exchange_body(x, &size);
    return r->work == ROUTE_COMPUTES || (r->work == ROUTE_READS && size > 0);
}

/* Whether a body may have the route's slow field. Its name may be written with escapes. */
static bool has_slow(const route *r, const char *body, size_t size)
{
    return r->slow && (memmem(body, size, r->slow, strlen(r->slow)) || memmem(body, size, "\\u", 2));
}

/* Whether a worker must answer. */
static bool is_left(const route *r, const exchange *x)
{
    size_t size;
    const char *body = exchange_body(x, &size);
    return is_counted(r, x) && (size == 0 || size > r->at_once || has_slow(r, body, size));
}

/* Counts the request first, so that bodies are not read while there is no room. Returns whether the route's function must
 * answer. */
static bool lets_in(app *a, exchange *x, const route *r)
{
    double seconds = 1;
    const site_of_page page = r->work == ROUTE_COMPUTES ? page_of(a, x) : PAGE_FITS;
    if (page != PAGE_FITS) {
        refusal_reply(x, 403, "other_site",
                      page == PAGE_HIDDEN ? "a browser has to say which page asks, by Referer; programs ask by POST"
                                          : "a page of another site cannot ask for this; see --cors");
        return false;
    }
    if (r->work == ROUTE_COMPUTES && hides_type(x)) {
        refusal_reply(x, 415, "content_type", "a page has to say what it sends: Content-Type is missing");
        return false;
    }
    const char *full = is_counted(r, x) ? app_enter(a, x, &seconds) : NULL;
    if (full)
        refusal_reply_later(x, 503, "overloaded", full, seconds);
    else if (r->access == ROUTE_KEY && !app_key_ok(a, x, header_key(x)))
        refuse_stranger(x);
    else
        return true;
    return false;
}

void router_work(app *a, exchange *x, const route *r)
{
    if (r->access == ROUTE_KEY_OR_FIELD && !app_key_ok(a, x, header_key(x)) && !body_key_ok(a, x))
        refuse_stranger(x);
    else
        r->answer(a, x);
    exchange_end_work(x);
    exchange_release(x);
}

const route *router_begin(app *a, exchange *x)
{
    const route *with_method, *found = routes_find(exchange_method(x), exchange_path(x), &with_method);
    exchange_hold(x);
    router_allow_origin(a, x);
    if (found)
        exchange_set_route(x, with_method ? with_method->path : found->path);
    if (!app_has_host(a, exchange_header(x, "Host")))
        refusal_reply(x, 403, "host", "Host is no name of this server; see --allowed-host");
    else if (strcmp(exchange_method(x), "OPTIONS") == 0 && (found || strcmp(exchange_path(x), "*") == 0))
        answer_options(a, x);
    else if (!found)
        refusal_reply(x, 404, "not_found", "there is no such path; /openapi.json lists them");
    else if (!with_method)
        refuse_method(x);
    else if (lets_in(a, x, with_method)) {
        if (is_left(with_method, x))
            return with_method;
        router_work(a, x, with_method);
        return NULL;
    }
    exchange_release(x);
    return NULL;
}

void router_answer(app *a, exchange *x)
{
    const route *r = router_begin(a, x);
    if (r)
        router_work(a, x, r);
}
