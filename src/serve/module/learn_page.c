/* serve/module/learn_page.c: reads the page of the lesson, and makes a page that leads there. */
#include "serve/module/learn_page.h"

#include "serve/module/embedded.h"

#include "base/chars.h"
#include "base/file.h"
#include "base/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#ifndef RAPT_SHARE
#define RAPT_SHARE "../share/rapt" /* relative to the program's folder, unless the build sets another */
#endif

enum { POLICY_WITHIN = 4096 /* the first bytes, which have the policy */ };

/* The page's own policy names its scripts by their hashes, and is sent as a header, too: neither allows what the page does not
 * need. In a header it also says who may frame the page. */
static bool read_policy(learn_page *p)
{
    static const char meta[] = "<meta http-equiv=\"Content-Security-Policy\" content=\"", first[] = "default-src 'none';";
    char head[POLICY_WITHIN + 1];
    snprintf(head, sizeof head, "%s", p->html);
    const char *at = strstr(head, meta);
    at = at ? at + sizeof meta - 1 : "";
    const size_t size = strcspn(at, "\"");
    for (size_t i = 0; i < size; i++) /* a header field has no line ends */
        if (at[i] < ' ' || at[i] > '~')
            return false;
    if (at[size] != '"' || size > LEARN_POLICY || strncmp(at, first, sizeof first - 1) != 0)
        return false;
    snprintf(p->policy, sizeof p->policy, "%.*s; frame-ancestors 'none'", (int)size, at);
    return true;
}

static void make_tag(learn_page *p)
{
    const XXH128_hash_t hash = XXH3_128bits(p->html, p->size);
    snprintf(p->tag, sizeof p->tag, "\"%016llx%016llx\"", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
}

/* The link in the server's page is hidden until there is a lesson. */
static bool make_home(learn_page *p)
{
    static const char hidden[] = " hidden", link[] = " id=\"learn\"";
    if (!(p->home = malloc(serve_page_html_size + 1)))
        return false;
    memcpy(p->home, serve_page_html, serve_page_html_size);
    p->home[serve_page_html_size] = '\0';
    char *at = strstr(p->home, link), *mark = at ? strstr(at, hidden) : NULL;
    if (mark)
        memset(mark, ' ', sizeof hidden - 1);
    return true;
}

static rapt_code read_page(learn_page *p, const char *file, rapt_error *err)
{
    rapt_code code = file_read_regular(file, LEARN_MAX, &p->html, &p->size, err);
    if (code)
        return code;
    if (!read_policy(p))
        return rapt_fail(err, RAPT_ERR_FORMAT,
                         "%s is no page that tools/lesson.sh has made: no policy begins with default-src 'none'", file);
    make_tag(p);
    return make_home(p) ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory");
}

/* The first place that has the file; *path is the caller's to free. RAPT_OK with NULL: none has. */
static rapt_code find_page(char **path, rapt_error *err)
{
    static const char *const places[] = {".", RAPT_SHARE};
    char program[PROCESS_PATH];
    process_program(program);
    char *slash = strrchr(program, '/');
    if (slash)
        *slash = '\0';
    *path = NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places && slash; i++) {
        bool there = false;
        if (!(*path = chars_print("%s/%s/lesson.html", program, places[i])))
            return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory");
        const rapt_code code = file_is_there(*path, &there, err);
        if (code || there)
            return code;
        free(*path);
        *path = NULL;
    }
    return RAPT_OK;
}

rapt_code learn_read(const char *file, learn_page **page, rapt_error *err)
{
    char *found = NULL;
    *page = NULL;
    if (file && strcmp(file, "none") == 0)
        return RAPT_OK;
    rapt_code code = file ? RAPT_OK : find_page(&found, err);
    if (code || (!file && !found)) {
        free(found);
        return code;
    }
    learn_page *p = calloc(1, sizeof *p);
    if (p)
        atomic_init(&p->references, 1);
    code = p ? read_page(p, file ? file : found, err) : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory");
    free(found);
    if (code)
        learn_release(p);
    else
        *page = p;
    return code;
}

learn_page *learn_hold(learn_page *p)
{
    if (p)
        atomic_fetch_add(&p->references, 1);
    return p;
}

void learn_release(learn_page *p)
{
    if (!p || atomic_fetch_sub(&p->references, 1) > 1)
        return;
    free(p->html);
    free(p->home);
    free(p);
}
