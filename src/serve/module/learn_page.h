/* serve/module/learn_page.h: the page of the lesson (docs/lesson.md), which is built apart from the server, at /learn, and the
 * server's own page, which leads there. Each is in memory once, whoever reads it. For app.c and learn.c. */
#ifndef SERVE_MODULE_LEARN_PAGE_H
#define SERVE_MODULE_LEARN_PAGE_H

#include "rapt/base.h"

#include <stdatomic.h>
#include <stddef.h>

enum { LEARN_MAX = 4 << 20, LEARN_POLICY = 2000, LEARN_TAG = 2 + 32 + 1 }; /* bytes */

/* Shared by references. */
typedef struct learn_page {
    atomic_size_t references;
    char *html, *home; /* the lesson, and the server's page with its link */
    size_t size;
    char tag[LEARN_TAG]; /* with its quotation marks */
    char policy[LEARN_POLICY + 64]; /* the page's own, and who may frame it */
} learn_page;

/* Reads the page from `file`: "none" is no page, and NULL the file lesson.html that lies beside the program, or where `make
 * install` puts it. *page: to be released; NULL: there is none. RAPT_ERR_VALUE: more than LEARN_MAX bytes; RAPT_ERR_FORMAT: no
 * page with a policy of its own, which the server would have to invent; and the errors of file_read_regular, but for a missing
 * lesson.html. */
rapt_code learn_read(const char *file, learn_page **page, rapt_error *err);
/* NULL is fine in both. */
learn_page *learn_hold(learn_page *p);
void learn_release(learn_page *p);

#endif
