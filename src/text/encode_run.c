/* text/encode_run.c: long texts to ids on all threads: the common part of all kinds of tokenizers. For token files.
 * bpe/bpe_threads.c finds the places where byte-level BPE can cut. */
#include "text/encode_run.h"

#include <stdlib.h>

rapt_code encode_run_keep(void *context, const int32_t *ids, size_t count, rapt_error *err)
{
    part *p = context;
    return buffer_append(&p->out, ids, count * sizeof *ids) ? RAPT_OK
                                                           : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu ids", count);
}

rapt_code encode_run_hand_on(const encode_run *r, const part *p, size_t first, rapt_error *err)
{
    const int32_t *ids = (const void *)p->out.data;
    size_t count = p->out.size / sizeof *ids - first;
    return count ? r->sink(r->context, ids + first, count, err) : RAPT_OK;
}

typedef struct cutting {
    const rapt_tokenizer *tokenizer;
    const encode_run *r;
    const encode_cuts *cuts;
} cutting;

static size_t encode_run_end_of(void *context, size_t begin)
{
    const cutting *c = context;
    const encode_run *r = c->r;
    return r->size - begin <= r->chunk ? r->size : c->cuts->end_of(r->text, r->size, begin + r->chunk);
}

static rapt_code encode_run_work(void *context, part *p, int worker, rapt_error *err)
{
    const cutting *c = context;
    (void)worker;
    return c->cuts->encode(c->tokenizer, c->r->text, c->r->size, p->begin, p->end, c->r->specials, encode_run_keep, p, err);
}

static rapt_code encode_run_take(void *context, part *p, rapt_error *err)
{
    const encode_run *r = ((const cutting *)context)->r;
    if (r->passed)
        r->passed(r->context, p->begin, p->end);
    return encode_run_hand_on(r, p, 0, err);
}

rapt_code encode_run_cut(const rapt_tokenizer *k, const encode_run *r, const encode_cuts *cuts, rapt_error *err)
{
    cutting c = {k, r, cuts};
    const parts all = {.pool = r->pool, .begin = 0, .end = r->size, .stop = r->stop, .end_of = encode_run_end_of,
                       .work = encode_run_work, .take = encode_run_take, .context = &c};
    return stretches_run(&all, NULL, err);
}

/* With special tokens, the text is encoded into memory first, without the ids that frame it. */
static rapt_code encode_found(const rapt_tokenizer *k, const encode_run *r, rapt_error *err)
{
    int32_t *ids;
    size_t count;
    rapt_code code = tokenizer_encode_within(k, r->text, r->size, true, &ids, &count, err);
    if (code == RAPT_OK && count > 0)
        code = r->sink(r->context, ids, count, err);
    free(ids);
    return code;
}

rapt_code encode_run_whole(const rapt_tokenizer *k, const encode_run *r, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    if (stop_asked(r->stop))
        code = rapt_fail(err, RAPT_ERR_INTERRUPTED, "stopped");
    else if (r->specials)
        code = encode_found(k, r, err);
    else
        code = rapt_tokenizer_encode_to(k, r->text, r->size, NULL, r->sink, r->context, err);
    if (code == RAPT_OK && r->passed)
        r->passed(r->context, 0, r->size);
    return code;
}

rapt_code encode_run_all(const rapt_tokenizer *k, const encode_run *r, rapt_error *err)
{
    return r->size > r->chunk ? k->ops->encode_run(k, r, err) : encode_run_whole(k, r, err);
}
