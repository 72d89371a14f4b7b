/* serve/module/glossaries.c: a list under a lock, bounded by number and bytes, for each owner and for all. */
#include "serve/module/glossaries.h"

#include "base/system_random.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct glossaries {
    pthread_mutex_t lock;
    kept_glossary *list[GLOSSARIES_ALL]; /* [count] each is a reference */
    size_t count, bytes;
};

glossaries *glossaries_new(void)
{
    glossaries *g = calloc(1, sizeof *g);
    if (g)
        pthread_mutex_init(&g->lock, NULL);
    return g;
}

/* Under the lock. */
static void glossaries_drop(kept_glossary *one)
{
    if (--one->references > 0)
        return;
    free(one->name);
    rapt_glossary_free(one->terms);
    free(one);
}

void glossaries_free(glossaries *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->count; i++)
        glossaries_drop(g->list[i]);
    pthread_mutex_destroy(&g->lock);
    free(g);
}

void glossaries_release(const kept_glossary *one)
{
    if (!one)
        return;
    glossaries *g = one->of;
    pthread_mutex_lock(&g->lock);
    glossaries_drop((kept_glossary *)one);
    pthread_mutex_unlock(&g->lock);
}

static bool glossaries_make_id(char id[GLOSSARY_ID])
{
    uint64_t a, b;
    if (!system_random(&a) || !system_random(&b))
        return false;
    snprintf(id, GLOSSARY_ID, "%08x-%04x-4%03x-%04x-%012llx", (unsigned)(a >> 32), (unsigned)(a >> 16) & 0xFFFF,
             (unsigned)a & 0xFFF, 0x8000 | ((unsigned)(b >> 48) & 0x3FFF), (unsigned long long)(b & 0xFFFFFFFFFFFF));
    return true;
}

/* Why there is no room for one more; NULL: there is. */
static const char *glossaries_fault(const glossaries *g, const kept_glossary *one)
{
    size_t count = 0, bytes = one->bytes;
    for (size_t i = 0; i < g->count; i++)
        if (strcmp(g->list[i]->owner, one->owner) == 0) {
            count++;
            bytes += g->list[i]->bytes;
        }
    if (count >= GLOSSARIES_EACH || bytes > GLOSSARIES_EACH_BYTES)
        return count >= GLOSSARIES_EACH ? "there are 100 glossaries already: delete one first"
                                        : "the glossaries would take more than 32 MiB: delete one first";
    return g->count == GLOSSARIES_ALL || g->bytes + one->bytes > GLOSSARIES_ALL_BYTES
               ? "the server has no room for more glossaries" : NULL;
}

const kept_glossary *glossaries_add(glossaries *g, const kept_glossary *one, const char **why)
{
    kept_glossary *copy = malloc(sizeof *copy);
    *why = NULL;
    if (!copy)
        return NULL;
    *copy = *one;
    copy->of = g;
    copy->created = (int64_t)time(NULL);
    copy->references = 2;
    if (!glossaries_make_id(copy->id))
        *why = "the system has no random numbers yet";
    pthread_mutex_lock(&g->lock);
    *why = *why ? *why : glossaries_fault(g, one);
    if (!*why) {
        g->list[g->count++] = copy;
        g->bytes += copy->bytes;
    }
    pthread_mutex_unlock(&g->lock);
    if (!*why)
        return copy;
    free(copy);
    return NULL;
}

/* The place of a glossary, or g->count. Under the lock. */
static size_t glossaries_place(const glossaries *g, const char *owner, const char *id)
{
    size_t i = 0;
    while (i < g->count && (strcmp(g->list[i]->id, id) != 0 || strcmp(g->list[i]->owner, owner) != 0))
        i++;
    return i;
}

const kept_glossary *glossaries_find(glossaries *g, const char *owner, const char *id)
{
    pthread_mutex_lock(&g->lock);
    const size_t i = glossaries_place(g, owner, id);
    kept_glossary *one = i < g->count ? g->list[i] : NULL;
    if (one)
        one->references++;
    pthread_mutex_unlock(&g->lock);
    return one;
}

bool glossaries_remove(glossaries *g, const char *owner, const char *id)
{
    pthread_mutex_lock(&g->lock);
    const size_t i = glossaries_place(g, owner, id);
    const bool there = i < g->count;
    if (there) {
        g->bytes -= g->list[i]->bytes;
        glossaries_drop(g->list[i]);
        memmove(g->list + i, g->list + i + 1, (--g->count - i) * sizeof *g->list);
    }
    pthread_mutex_unlock(&g->lock);
    return there;
}

void glossaries_each(glossaries *g, const char *owner, void (*each)(void *context, const kept_glossary *one), void *context)
{
    pthread_mutex_lock(&g->lock);
    for (size_t i = 0; i < g->count; i++)
        if (strcmp(g->list[i]->owner, owner) == 0)
            each(context, g->list[i]);
    pthread_mutex_unlock(&g->lock);
}
