/* serve/module/learn.c: the page of the lesson, and the server's own: responses borrow their bytes. */
#include "serve/module/endpoints.h"

#include "serve/module/embedded.h"
#include "serve/module/learn_page.h"
#include "serve/module/refusal.h"

#include <string.h>

static const char NO_LESSON[] = "the lesson is not here: tools/lesson.sh of rapt's sources builds it as one file, and releases "
                                "have it; `rapt serve --lesson FILE` serves that (docs/lesson.md)";

static void release_page(void *page)
{
    learn_release(page);
}

static const char HTML[] = "text/html; charset=utf-8";

void learn_home(app *a, exchange *x)
{
    learn_page *p = app_lesson(a);
    const char *bytes = p ? p->home : (const char *)serve_page_html;
    exchange_add_header(x, "Content-Security-Policy", serve_page_policy);
    exchange_add_header(x, "Referrer-Policy", "same-origin");
    exchange_reply_held(x, 200, HTML, (exchange_held){bytes, serve_page_html_size, release_page, p});
}

/* If-None-Match compares without "W/" (RFC 9110, 13.1.2), and no tag has a quotation mark within. */
static bool has_tag(const char *list, const char *tag)
{
    return list && (strcmp(list, "*") == 0 || strstr(list, tag));
}

/* A browser asks each time, and gets 304: the file may be another one after a reload. */
void learn_get(app *a, exchange *x)
{
    learn_page *p = app_lesson(a);
    if (!p) {
        refusal_reply(x, 404, "not_found", NO_LESSON);
        return;
    }
    exchange_add_header(x, "ETag", p->tag);
    exchange_add_header(x, "Cache-Control", "no-cache");
    exchange_add_header(x, "Content-Security-Policy", p->policy);
    exchange_add_header(x, "Referrer-Policy", "no-referrer");
    if (has_tag(exchange_header(x, "If-None-Match"), p->tag)) {
        exchange_reply(x, 304, "", "", 0);
        learn_release(p);
    } else
        exchange_reply_held(x, 200, HTML, (exchange_held){p->html, p->size, release_page, p});
}
