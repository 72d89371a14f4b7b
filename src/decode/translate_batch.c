/* decode/translate_batch.c: runs the search of one batch of segments. The searches are in greedy.c, beam.c and
 * policy_translate.c. */
#include "decode/translate_batch.h"

#include "decode/align.h"
#include "decode/whole_text.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)256 << 10)

rapt_code translate_batch_init(translate_batch *b, const translate_setup *setup, rapt_error *err)
{
    *b = (translate_batch){.m = setup->m};
    arena_init(&b->memory, CHUNK);
    b->on = (searcher){NULL, setup->m->translation.net, rapt_decoder_state_new(err), setup->o.kv_cache};
    return b->on.state ? RAPT_OK : RAPT_ERR_MEMORY;
}

void translate_batch_free(translate_batch *b)
{
    rapt_decoder_state_free(b->on.state);
    rapt_decoder_state_free(b->again);
    arena_free(&b->memory);
}

/* ---- packing ------------------------------------------------------------------------------------------------------ */

/* A search_stop's question. */
static bool translate_asks(void *context, size_t sentence)
{
    translate_item *const *items = context;
    return translate_text_is_stopped(items[sentence]);
}

static rapt_code translate_out_of_memory(size_t n, rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a batch of %zu segment%s", n, n == 1 ? "" : "s");
}

/* items[n] as rows of tokens, in memory of the arena. */
static bool translate_pack(translate_batch *b, translate_item **items, size_t n, bool *stopped, bool *over, search_batch *out)
{
    size_t time = 0;
    for (size_t i = 0; i < n; i++)
        time = items[i]->source->count > time ? items[i]->source->count : time;
    int32_t *ids = arena_array(&b->memory, n * time, sizeof *ids);
    int32_t *lens = arena_array(&b->memory, n, sizeof *lens);
    size_t *limits = arena_array(&b->memory, n, sizeof *limits);
    search_prefix *begins = arena_array(&b->memory, n, sizeof *begins);
    if (!ids || !lens || !limits || !begins)
        return false;
    for (size_t i = 0; i < n; i++) {
        const source_segment *source = items[i]->source;
        for (size_t j = 0; j < time; j++)
            ids[i * time + j] = j < source->count ? source->ids[j] : b->m->translation.special.pad;
        lens[i] = (int32_t)source->count;
        begins[i] = items[i]->begin;
        limits[i] = search_limit(b->m, &b->settings.search, source->count, begins[i].count);
    }
    *out = (search_batch){{ids, n, time}, lens, limits, begins, {translate_asks, items, stopped}, over};
    return true;
}

static rapt_code translate_search(const searcher *on, const search_batch *batch, const search_options *o, arena *memory,
                                  search_result *results, search_run **run, rapt_error *err)
{
    if (o->policy)
        return search_policy(on, batch, o, memory, results, run, err);
    return o->beam > 1 ? search_beam(on, batch, o, memory, results, run, err)
                       : search_greedy(on, batch, o, memory, results, run, err);
}

/* ---- what stops --------------------------------------------------------------------------------------------------- */

static void translate_stop(translate_item *item)
{
    item->stopped = true;
    translate_text_end(item);
}

static void translate_take_items(translate_batch *b, translate_item *const *items, size_t count)
{
    b->count = 0;
    for (size_t i = 0; i < count; i++)
        if (translate_text_is_stopped(items[i]))
            translate_stop(items[i]);
        else
            b->items[b->count++] = items[i];
    b->left = b->count;
}

/* Encodes items[count], except cancelled ones. */
static rapt_code translate_start(translate_batch *b, translate_item *const *items, size_t count, rapt_error *err)
{
    arena_release(&b->memory, (arena_mark){0});
    b->run = NULL;
    b->count = 0;
    b->items = arena_array(&b->memory, count, sizeof *b->items);
    b->results = arena_zeroed(&b->memory, count, sizeof *b->results);
    b->stopped = arena_zeroed(&b->memory, count, sizeof *b->stopped);
    b->over = arena_zeroed(&b->memory, count, sizeof *b->over);
    if (!b->items || !b->results || !b->stopped || !b->over)
        return translate_out_of_memory(count, err);
    translate_take_items(b, items, count);
    if (b->count == 0)
        return RAPT_OK;
    if (!translate_pack(b, b->items, b->count, b->stopped, b->over, &b->batch))
        return translate_out_of_memory(b->count, err);
    rapt_code code = translate_search(&b->on, &b->batch, &b->settings.search, &b->memory, b->results, &b->run, err);
    if (code)
        b->run = NULL;
    return code;
}

/* ---- what comes out ----------------------------------------------------------------------------------------------- */

/* Searches a translation again that has bytes which are not a character: by itself, and among whole characters only. */
static rapt_code translate_search_whole(translate_batch *b, size_t i, rapt_error *err)
{
    const rapt_tokenizer *k = b->m->translation.target;
    search_result *r = &b->results[i];
    searcher on = b->on;
    search_run *run;
    search_batch batch;
    if (r->count == 0 || b->settings.search.policy || whole_text_is(k, r->best[0].tokens, r->best[0].length))
        return RAPT_OK;
    search_options o = b->settings.search;
    o.whole = k;
    b->again = b->again ? b->again : rapt_decoder_state_new(err);
    on.state = b->again;
    if (!on.state || !translate_pack(b, &b->items[i], 1, &b->stopped[i], NULL, &batch))
        return translate_out_of_memory(1, err);
    rapt_code code = translate_search(&on, &batch, &o, &b->memory, r, &run, err);
    return code ? code : search_finish(run, &on, err);
}

static rapt_code translate_deliver(const translate_batch *b, const search_result *r, rapt_translation *out, rapt_error *err)
{
    const rapt_tokenizer *k = b->m->translation.target;
    size_t n = r->count < b->settings.o.n_best ? r->count : b->settings.o.n_best;
    out->hypotheses = calloc(n ? n : 1, sizeof *out->hypotheses);
    bool ok = out->hypotheses != NULL;
    for (size_t i = 0; ok && i < n; i++) {
        const search_hypothesis *h = &r->best[i];
        out->hypotheses[i].text = whole_text_of(k, h->tokens, h->length);
        out->hypotheses[i].score = h->score;
        out->hypotheses[i].log_prob = h->log_prob;
        out->count = i + 1;
        ok = out->hypotheses[i].text != NULL;
        if (ok && !whole_text_is(k, h->tokens, h->length))
            whole_text_trim(k, out->hypotheses[i].text);
    }
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a translation");
}

/* Without <eos>. */
static bool translate_copy_tokens(const translate_batch *b, const int32_t *ids, size_t count, int32_t **out, size_t *out_count)
{
    *out_count = count > 0 && ids[count - 1] == b->m->translation.special.eos ? count - 1 : count;
    *out = malloc((*out_count + 1) * sizeof **out);
    if (*out && *out_count > 0)
        memcpy(*out, ids, *out_count * sizeof *ids);
    return *out != NULL;
}

/* Those that are aligned. */
static rapt_code keep_tokens(const translate_batch *b, const source_segment *source, const search_result *r,
                             rapt_translation *out, rapt_error *err)
{
    bool ok = !b->settings.o.tokens || translate_copy_tokens(b, source->ids, source->count, &out->source, &out->source_count);
    for (size_t i = 0; i < out->count && b->settings.o.tokens && ok; i++)
        ok = translate_copy_tokens(b, r->best[i].tokens, r->best[i].length, &out->hypotheses[i].tokens,
                                   &out->hypotheses[i].token_count);
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the tokens of a translation");
}

static rapt_code align(const translate_batch *b, const source_segment *source, const search_result *r, rapt_translation *out,
                       rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < out->count && b->settings.o.alignment && !code; i++)
        code = align_tokens(b->on.t, b->m, source->ids, source->count, r->best[i].tokens, r->best[i].length,
                            &out->hypotheses[i].alignment, err);
    return code;
}

static rapt_code translate_write(translate_batch *b, size_t i, rapt_error *err)
{
    const source_segment *source = b->items[i]->source;
    rapt_translation *out = b->items[i]->out;
    rapt_code code = translate_deliver(b, &b->results[i], out, err);
    code = code ? code : keep_tokens(b, source, &b->results[i], out, err);
    return code ? code : align(b, source, &b->results[i], out, err);
}

/* Ends a sentence that has left the search. A failure from here on concerns this sentence only. */
static void translate_end_item(translate_batch *b, size_t i)
{
    rapt_error err = {0};
    translate_item *item = b->items[i];
    rapt_code code = b->stopped[i] ? RAPT_OK : translate_search_whole(b, i, &err);
    code = code || b->stopped[i] ? code : translate_write(b, i, &err);
    b->items[i] = NULL;
    b->left--;
    if (code)
        translate_text_fail(item, &err);
    else if (b->stopped[i])
        translate_stop(item);
    else
        translate_text_end(item);
}

static void translate_end_items(translate_batch *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->items[i] && (b->over[i] || b->stopped[i]))
            translate_end_item(b, i);
    if (b->run->rows == 0)
        b->run = NULL;
}

/* ---- failures ----------------------------------------------------------------------------------------------------- */

static void translate_alone(translate_batch *b, translate_item *item)
{
    rapt_error err = {0};
    rapt_code code = translate_start(b, &item, 1, &err);
    code = code || !b->run ? code : search_finish(b->run, &b->on, &err);
    if (code)
        translate_text_fail(item, &err);
    else if (b->run)
        translate_end_items(b);
    b->run = NULL;
}

/* Translates each of items[count] by itself (NULL: it has ended), so that an item's failure depends on that item alone. Out of
 * memory does not concern one item: then all fail. */
static void translate_retry(translate_batch *b, translate_item *const *items, size_t count, const rapt_error *err)
{
    translate_item **again = err->code != RAPT_ERR_MEMORY && count > 1 ? malloc(count * sizeof *again) : NULL;
    if (again)
        memcpy(again, items, count * sizeof *again); /* they may be the batch's */
    for (size_t i = 0; i < count; i++) {
        translate_item *item = again ? again[i] : items[i];
        if (item && !again)
            translate_text_fail(item, err);
        else if (item && translate_text_is_wanted(item))
            translate_alone(b, item);
        else if (item)
            translate_text_end(item);
    }
    b->run = NULL;
    b->left = 0;
    free(again);
}

/* ---- for callers -------------------------------------------------------------------------------------------------- */

void translate_batch_begin(translate_batch *b, rapt_tape *t, const translate_settings *settings, translate_item *const *items,
                           size_t count)
{
    rapt_error err = {0};
    b->on.t = t;
    b->settings = *settings;
    if (translate_start(b, items, count, &err))
        translate_retry(b, b->count ? b->items : items, b->count ? b->count : count, &err);
}

/* Lets the search of each batch choose tokens from its rows of the logits. Does not use the tape, because a new pass would
 * release the logits. */
static void translate_extend(translate_batch *const *batches, size_t count, size_t classes, rapt_real *logits, rapt_error *errors)
{
    for (size_t i = 0; i < count; i++) {
        translate_batch *b = batches[i];
        const size_t rows = b->run->rows;
        b->run->extend(b->run, b->on.state, logits, &errors[i]);
        logits += rows * classes;
    }
}

void translate_batch_step(translate_batch *const *batches, size_t count, rapt_tape *t)
{
    const searcher on = {t, batches[0]->on.m, NULL, batches[0]->on.kv_cache};
    search_part parts[TRANSLATE_TOGETHER] = {{0}};
    rapt_error errors[TRANSLATE_TOGETHER], err = {0};
    rapt_real *logits;
    for (size_t i = 0; i < count; i++) {
        batches[i]->on.t = t;
        errors[i].code = RAPT_OK;
        parts[i] = (search_part){batches[i]->run, batches[i]->on.state};
    }
    rapt_code code = search_step_parts(&on, parts, count, &logits, &err);
    if (!code)
        translate_extend(batches, count, on.m->config.target_vocab, logits, errors);
    for (size_t i = 0; i < count; i++)
        if (code || errors[i].code)
            translate_retry(batches[i], batches[i]->items, batches[i]->count, code ? &err : &errors[i]);
        else
            translate_end_items(batches[i]);
}
