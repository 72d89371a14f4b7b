/* text/encode_batch.c: many texts to ids on all threads, each text on one of them. One long text is for encode_run.c. */
#include "text/tokenizer.h"

#include "base/buffer.h"
#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

#define BYTE_WORK 64       /* elementary operations that a byte takes, about */
#define ALONE_BYTES 32768  /* fewer are encoded before threads have started */
#define GROUPS 1024        /* max groups of texts, about; a group is what a thread encodes at a time, into one list */
_Static_assert(GROUPS < POOL_MAX_CHUNKS / 2, "more groups would run on one thread");

/* The ids of a group. */
typedef struct encoded {
    id_list list;
    size_t failed; /* the first text of it that failed; SIZE_MAX: none */
} encoded;

typedef struct batch {
    const rapt_tokenizer *k;
    const rapt_text *texts;
    size_t count, group, groups; /* texts; of them in a group */
    bool specials;
    encoded *out;   /* [groups] */
    size_t *starts; /* [count + 1] the number of ids of each text, until join_ids makes places of them */
} batch;

static rapt_code encode_member(const batch *b, size_t i, id_list *list, rapt_error *err)
{
    const rapt_text *t = &b->texts[i];
    const size_t before = list->count;
    rapt_code code = ARRAY_RESERVE(&list->ids, &list->capacity, before + t->size / 4 + 16)
                         ? b->k->ops->encode_to(b->k, t->size > 0 ? t->data : "", t->size, b->specials, id_list_append, list, err)
                         : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the ids of %zu bytes", t->size);
    b->starts[i] = list->count - before;
    return code;
}

static void encode_group_of_texts(void *context, size_t i, int worker)
{
    const batch *b = context;
    encoded *own = &b->out[i];
    (void)worker;
    const size_t end = i * b->group + b->group < b->count ? i * b->group + b->group : b->count;
    own->failed = SIZE_MAX;
    for (size_t at = i * b->group; at < end && own->failed == SIZE_MAX; at++)
        if (encode_member(b, at, &own->list, NULL) != RAPT_OK)
            own->failed = at;
}

/* The reason of the first text that failed, whichever thread had it. */
static rapt_code first_failure(const batch *b, rapt_error *err)
{
    rapt_error reason = {0};
    id_list list = {0};
    size_t i = 0;
    while (i < b->groups && b->out[i].failed == SIZE_MAX)
        i++;
    if (i == b->groups)
        return RAPT_OK;
    const size_t at = b->out[i].failed;
    /* Memory may be there the second time: it has failed nevertheless. */
    const rapt_code code = encode_member(b, at, &list, &reason);
    free(list.ids);
    return code ? rapt_fail(err, code, "text %zu: %s", at + 1, reason.message)
                : rapt_fail(err, RAPT_ERR_MEMORY, "text %zu: out of memory for its ids", at + 1);
}

static rapt_code join_ids(const batch *b, int32_t **ids, rapt_error *err)
{
    size_t total = 0;
    for (size_t i = 0; i < b->groups; i++)
        total += b->out[i].list.count;
    *ids = malloc((total + 1) * sizeof **ids);
    if (!*ids)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu ids", total);
    total = 0;
    for (size_t i = 0; i < b->groups; total += b->out[i++].list.count)
        if (b->out[i].list.count > 0)
            memcpy(*ids + total, b->out[i].list.ids, b->out[i].list.count * sizeof **ids);
    total = 0;
    for (size_t i = 0; i <= b->count; i++) {
        const size_t begin = total;
        total += i < b->count ? b->starts[i] : 0;
        b->starts[i] = begin;
    }
    return RAPT_OK;
}

static rapt_code encode_all(batch *b, int threads, rapt_error *err)
{
    size_t bytes = 0;
    for (size_t i = 0; i < b->count; i++)
        bytes += b->texts[i].size;
    const bool alone = bytes < ALONE_BYTES || b->count < 2;
    pool *p = pool_check_threads(threads, err) ? NULL : pool_new(alone ? 1 : threads, err);
    if (!p)
        return RAPT_ERR_VALUE;
    pool_run(p, b->groups, bytes * BYTE_WORK, encode_group_of_texts, b);
    pool_free(p);
    return RAPT_OK;
}

rapt_code rapt_tokenizer_encode_batch(const rapt_tokenizer *k, const rapt_text *texts, size_t count,
                                      const rapt_encode_options *options, int32_t **ids, size_t **starts, rapt_error *err)
{
    rapt_error own = {0};
    rapt_encode_options o;
    *ids = NULL;
    *starts = NULL;
    if (tokenizer_take_options(options, &o, err) != RAPT_OK)
        return RAPT_ERR_VALUE;
    batch b = {.k = k, .texts = texts, .count = count, .group = 1 + count / GROUPS, .specials = o.specials};
    b.groups = (count + b.group - 1) / b.group;
    b.out = calloc(b.groups + 1, sizeof *b.out);
    b.starts = malloc((count + 1) * sizeof *b.starts);
    rapt_code code = b.out && b.starts ? RAPT_OK : rapt_fail(&own, RAPT_ERR_MEMORY, "out of memory for %zu texts", count);
    if (!code && encode_all(&b, o.threads, &own))
        code = own.code;
    if (!code)
        code = first_failure(&b, &own);
    if (!code)
        code = join_ids(&b, ids, &own);
    for (size_t i = 0; b.out && i < b.groups; i++)
        free(b.out[i].list.ids);
    free(b.out);
    if (!code) {
        *starts = b.starts;
        return RAPT_OK;
    }
    free(b.starts);
    return rapt_fail(err, code, "%s", own.message);
}
