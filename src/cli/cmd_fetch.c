/* cli/cmd_fetch.c: `rapt fetch`: public data sets and vocabularies, or where to download them by hand. For the recipes whose
 * files rapt does not ship. src/fetch downloads. */
#include "fetch/fetch.h"

#include "base/ends.h"
#include "base/file.h"
#include "base/suggest.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fetch_arguments {
    const fetch_set *set;
    const char *name, *dir, *from;
    bool list, quiet;
} fetch_arguments;

#define ARGUMENTS fetch_arguments
static const cli_option OPTIONS[] = {
    OPTION_TEXT("dir", "DIR", AT(dir), "The folder for the files (default data/NAME)"),
    OPTION_TEXT("from", "URL", AT(from), "Mirror with files of the same names"),
    OPTION_FLAG("list", AT(list), "Download nothing; list the available sets, or NAME's files, checksums and URLs"),
    OPTION_FLAG("quiet", AT(quiet), "No progress"),
    {0}};

static const fetch_set *find_set(const char *name)
{
    const char *names[FETCH_SET_COUNT];
    for (size_t i = 0; i < FETCH_SET_COUNT; i++) {
        names[i] = FETCH_SETS[i].name;
        if (strcmp(names[i], name) == 0)
            return &FETCH_SETS[i];
    }
    const char *near = suggest_nearest(name, names, FETCH_SET_COUNT);
    if (near)
        usage_error("there is no '%s'; did you mean '%s'?", name, near);
    usage_error("there is no '%s'; `rapt fetch --list` lists the available sets", name);
}

static void cmd_fetch_finish(void *arguments)
{
    fetch_arguments *a = arguments;
    if (a->from && !strstr(a->from, "://"))
        usage_error("--from: '%s' is not a URL; of a folder it is file:// and its path, as file:///media/stick", a->from);
    if (!a->name && !a->list)
        usage_error("missing operand: NAME; `rapt fetch --list` lists the available sets");
    if (a->name)
        a->set = find_set(a->name);
}

const cli_command fetch_command = {
    .options = OPTIONS, .operands = "NAME", .words = FETCH_SET_NAMES,
    .about = "Download a public data set or vocabulary, check its sha256 and unpack it.",
    .notes = "NAME: " FETCH_SET_NAMES ". Existing files are checked and never overwritten; the same command resumes an "
             "interrupted download.",
    .most = 1, .takes = "one name", .operand = {AT(name)}, .finish = cmd_fetch_finish};

static char *path_of(const fetch_arguments *a, const fetch_set *set, const fetch_file *file)
{
    char folder[64];
    snprintf(folder, sizeof folder, "data/%s", set->name);
    return file_join(a->dir ? a->dir : folder, file->name);
}

static void list_sets(void)
{
    for (size_t i = 0; i < FETCH_SET_COUNT; i++) {
        char text[32];
        double bytes = 0;
        for (size_t f = 0; f < FETCH_SETS[i].count; f++)
            bytes += (double)FETCH_SETS[i].files[f].bytes;
        printf("%-16s %8s  %s\n", FETCH_SETS[i].name, cli_bytes(bytes, text), FETCH_SETS[i].about);
    }
}

/* One file of a set: its path, size, checksum and URL. */
static rapt_code list_file(const fetch_arguments *a, const fetch_file *file, rapt_error *err)
{
    char *path = path_of(a, a->set, file), *url = fetch_url(file, a->from);
    rapt_code code = path && url ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the name of a file");
    if (!code) {
        cli_print_clean(stdout, path);
        printf("  %zu bytes\n    sha256 %s\n    ", file->bytes, file->sha256);
        cli_print_clean(stdout, url);
        putchar('\n');
    }
    free(path);
    free(url);
    return code;
}

/* ---- fetching ------------------------------------------------------------------------------------------------ */

static void cmd_fetch_show_progress(void *context, size_t bytes, size_t all)
{
    char done[32], whole[32];
    fputs("\r\033[K", stderr);
    cli_say("%s  %s", (const char *)context, cli_bytes((double)bytes, done));
    if (all)
        fprintf(stderr, " of %s", cli_bytes((double)all, whole));
}

static rapt_code get_at(const fetch_arguments *a, fetch_request *r, rapt_error *err)
{
    char size[32];
    fetch_outcome outcome = FETCH_CAME;
    bool live = !a->quiet && cli_says_anew();
    r->progress = live ? cmd_fetch_show_progress : NULL;
    r->context = (void *)r->path;
    rapt_code code = fetch_get(r, &outcome, err);
    if (live && outcome == FETCH_CAME)
        fputs("\r\033[K", stderr);
    if (code)
        return code;
    cli_print_clean(stdout, r->path);
    printf("  %s  %s\n", cli_bytes((double)r->file->bytes, size),
           outcome == FETCH_CAME ? "fetched" : "was there, and is right");
    fflush(stdout);
    return RAPT_OK;
}

static rapt_code get_file(const fetch_arguments *a, const fetch_file *file, rapt_error *err)
{
    char *path = path_of(a, a->set, file), *url = fetch_url(file, a->from);
    fetch_request request = {.file = file, .url = url, .path = path};
    rapt_code code = path && url ? get_at(a, &request, err) : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a file name");
    free(path);
    free(url);
    return code;
}

/* After a failure: how to download the files by hand. It is printed because paths may be longer than messages. The list has the
 * publishers' URLs, even if a mirror failed. */
static int tell_by_hand(const fetch_arguments *a, const fetch_file *file, const rapt_error *err)
{
    bool packed = ends_in(file->url, ".gz") || ends_in(file->url, ".zip");
    char *path = path_of(a, a->set, file);
    cli_say("rapt: %s; or put it%s at %s yourself: see `rapt fetch %s --list%s%s`\n", err->message,
            packed ? ", unpacked," : "", path ? path : file->name, a->set->name, a->dir ? " --dir " : "", a->dir ? a->dir : "");
    free(path);
    return 1;
}

int cmd_fetch(int argc, char **argv)
{
    fetch_arguments a = {0};
    rapt_error err = {0};
    rapt_code code = RAPT_OK;
    options_parse(&fetch_command, argc, argv, &a);
    if (!a.set)
        list_sets();
    size_t i = 0, count = a.set ? a.set->count : 0;
    for (; i < count && !code; i += !code)
        code = a.list ? list_file(&a, &a.set->files[i], &err) : get_file(&a, &a.set->files[i], &err);
    if (code == RAPT_ERR_NOT_FOUND)
        return tell_by_hand(&a, &a.set->files[i], &err);
    return code ? cli_fail(&err) : 0;
}
