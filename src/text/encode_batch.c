/* text/encode_batch.c: many texts to ids on all threads, each text on one of them. One long text is for encode_run.c. */
#include "text/tokenizer.h"

#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

#define BYTE_WORK 64       /* elementary operations that a byte takes, about */
#define ALONE_BYTES 32768  /* fewer are encoded before threads have started */
#define GROUPS 65536       /* max chunks of the loop over all texts, about */
_Static_assert(GROUPS < POOL_MAX_CHUNKS, "more chunks would run on one thread");

typedef struct encoded {
    int32_t *ids;
    size_t count;
    bool failed;
} encoded;

typedef struct batch {
    const rapt_tokenizer *k;
    const rapt_text *texts;
    size_t count, group; /* texts; of them in a chunk */
    bool specials;
    encoded *out; /* [count] */
} batch;

static rapt_code encode_member(const batch *b, size_t i, rapt_error *err)
{
    const rapt_text *t = &b->texts[i];
    return tokenizer_encode_bytes(b->k, t->size > 0 ? t->data : "", t->size, b->specials, &b->out[i].ids, &b->out[i].count, err);
}

static void encode_chunk(void *context, size_t i, int worker)
{
    batch *b = context;
    (void)worker;
    const size_t end = i * b->group + b->group < b->count ? i * b->group + b->group : b->count;
    for (size_t at = i * b->group; at < end; at++) {
        rapt_error err = {0};
        b->out[at].failed = encode_member(b, at, &err) != RAPT_OK;
    }
}

/* The reason of the first text that failed, whichever thread had it. */
static rapt_code first_failure(const batch *b, rapt_error *err)
{
    rapt_error reason = {0};
    size_t i = 0;
    while (i < b->count && !b->out[i].failed)
        i++;
    if (i == b->count)
        return RAPT_OK;
    const rapt_code code = encode_member(b, i, &reason); /* memory may be there the second time: it has failed nevertheless */
    return code ? rapt_fail(err, code, "text %zu: %s", i + 1, reason.message)
                : rapt_fail(err, RAPT_ERR_MEMORY, "text %zu: out of memory for its ids", i + 1);
}

static rapt_code join_ids(const batch *b, int32_t **ids, size_t **starts, rapt_error *err)
{
    size_t total = 0;
    for (size_t i = 0; i < b->count; i++)
        total += b->out[i].count;
    *ids = malloc((total + 1) * sizeof **ids);
    *starts = malloc((b->count + 1) * sizeof **starts);
    if (!*ids || !*starts)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu ids", total);
    total = 0;
    for (size_t i = 0; i < b->count; total += b->out[i++].count) {
        (*starts)[i] = total;
        memcpy(*ids + total, b->out[i].ids, b->out[i].count * sizeof **ids);
    }
    (*starts)[b->count] = total;
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
    b->group = 1 + b->count / GROUPS;
    pool_run(p, (b->count + b->group - 1) / b->group, bytes * BYTE_WORK, encode_chunk, b);
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
    batch b = {.k = k, .texts = texts, .count = count, .specials = o.specials, .out = calloc(count + 1, sizeof *b.out)};
    rapt_code code = b.out ? RAPT_OK : rapt_fail(&own, RAPT_ERR_MEMORY, "out of memory for %zu texts", count);
    if (!code && encode_all(&b, o.threads, &own))
        code = own.code;
    if (!code)
        code = first_failure(&b, &own);
    if (!code)
        code = join_ids(&b, ids, starts, &own);
    for (size_t i = 0; b.out && i < count; i++)
        free(b.out[i].ids);
    free(b.out);
    if (!code)
        return RAPT_OK;
    free(*ids);
    free(*starts);
    *ids = NULL;
    *starts = NULL;
    return rapt_fail(err, code, "%s", own.message);
}
