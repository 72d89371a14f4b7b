/* serve/module/map_watch.c: the handler of SIGBUS reads a table of mapped files. A signal handler has no context, so the table is
 * the module's; it is lock-free for the handler, and never freed, since the handler may read it at any time. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "serve/module/map_watch.h"

#include "base/quote.h"
#include "io/model_maps.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FILES_MAX = 4096, MESSAGE_TEXT = 400 };

/* A file of a watched model. */
typedef struct watched_file {
    char message[MESSAGE_TEXT];
    struct watched_file *next; /* of the same model */
} watched_file;

struct map_watch {
    _Atomic(const char *) damage; /* the message of the first file that is damaged; NULL: none is */
    atomic_bool told;
    void (*tell)(void *context, const char *message);
    void *context;
    watched_file *files;
    const char *name; /* while it is made */
    bool failed;
};

/* A place of the table is in use if its size is not 0. The handler looks only for an address that a thread reads just now, whose
 * place cannot be given away meanwhile; another one may be, between the two members, so both are read twice. */
typedef struct watched_place {
    atomic_uintptr_t begin;
    atomic_size_t size;
    map_watch *watch;
    const char *message;
} watched_place;

static watched_place places[FILES_MAX];
static atomic_size_t places_used; /* places before this one may be in use */
static pthread_mutex_t places_lock = PTHREAD_MUTEX_INITIALIZER; /* of those that change the table */
static struct sigaction before;
static uintptr_t page; /* bytes */

/* ---- the handler -------------------------------------------------------------------------------------------------------- */

/* Marks the model of an address, and then maps zeros from the address's page to the end of the file. False: the address is in no
 * watched file. A signal handler may call it. */
static bool put_zeros(uintptr_t address)
{
    for (size_t i = 0; i < atomic_load(&places_used); i++) {
        const watched_place *p = &places[i];
        const size_t size = atomic_load(&p->size);
        const uintptr_t begin = atomic_load(&p->begin);
        if (size == 0 || address < begin || address - begin >= (size + page - 1) / page * page)
            continue;
        if (atomic_load(&p->size) != size || atomic_load(&p->begin) != begin)
            continue;
        const char *none = NULL;
        const uintptr_t from = address / page * page;
        const size_t rest = (begin + size - from + page - 1) / page * page;
        atomic_compare_exchange_strong(&p->watch->damage, &none, p->message); /* before any thread can read zeros */
        return mmap((void *)from, rest, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
    }
    return false;
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    const int reason = errno;
    if (info->si_code <= 0 || info->si_code == BUS_MCEERR_AO) { /* sent by somebody: no read is repeated */
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    if (info->si_code == BUS_ADRERR && put_zeros((uintptr_t)info->si_addr)) {
        errno = reason;
        return;
    }
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(number, info, context);
    else
        signal(number, SIG_DFL); /* the read is repeated, and ends the process */
}

void map_watch_install(void)
{
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    struct sigaction old;
    page = (uintptr_t)sysconf(_SC_PAGESIZE);
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGBUS, NULL, &old) == 0 && !((old.sa_flags & SA_SIGINFO) && old.sa_sigaction == on_bus_error)) {
        before = old;
        sigaction(SIGBUS, &action, NULL);
    }
}

/* ---- models ------------------------------------------------------------------------------------------------------------- */

/* False: the table is full. */
static bool take_place(map_watch *w, const char *message, const file_map *map)
{
    size_t i = 0;
    pthread_mutex_lock(&places_lock);
    while (i < FILES_MAX && atomic_load(&places[i].size) > 0)
        i++;
    if (i < FILES_MAX) {
        places[i].watch = w;
        places[i].message = message;
        atomic_store(&places[i].begin, (uintptr_t)map->data);
        atomic_store(&places[i].size, map->size);
        if (i >= atomic_load(&places_used))
            atomic_store(&places_used, i + 1);
    }
    pthread_mutex_unlock(&places_lock);
    return i < FILES_MAX;
}

static void watch_file(void *context, const char *path, const file_map *map)
{
    map_watch *w = context;
    const char *slash = strrchr(path, '/'); /* clients learn no path */
    if (map->size == 0 || w->failed)
        return;
    watched_file *f = malloc(sizeof *f);
    w->failed = !f;
    if (!f)
        return;
    f->next = w->files;
    w->files = f;
    snprintf(f->message, sizeof f->message,
             "the model \"%.100s\" cannot be used: its file %.150s was truncated or cannot be read", w->name,
             slash ? slash + 1 : path);
    quote_clean(f->message);
    w->failed = !take_place(w, f->message, map);
}

map_watch *map_watch_new(const rapt_model *m, const char *name, void (*tell)(void *context, const char *message), void *context,
                         rapt_error *err)
{
    map_watch *w = calloc(1, sizeof *w);
    if (w) {
        w->tell = tell;
        w->context = context;
        w->name = name;
        model_maps(m, watch_file, w);
        w->name = NULL;
    }
    if (w && !w->failed)
        return w;
    map_watch_free(w);
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to watch the files of a model, or more than %d of them", FILES_MAX);
    return NULL;
}

const char *map_watch_damage(void *watch)
{
    map_watch *w = watch;
    const char *damage = atomic_load(&w->damage);
    if (damage && w->tell && !atomic_exchange(&w->told, true))
        w->tell(w->context, damage);
    return damage;
}

void map_watch_free(void *watch)
{
    map_watch *w = watch;
    if (!w)
        return;
    pthread_mutex_lock(&places_lock);
    for (size_t i = 0; i < atomic_load(&places_used); i++)
        if (atomic_load(&places[i].size) > 0 && places[i].watch == w)
            atomic_store(&places[i].size, 0);
    pthread_mutex_unlock(&places_lock);
    while (w->files) {
        watched_file *f = w->files;
        w->files = f->next;
        free(f);
    }
    free(w);
}
