/* decode/segment_runs.c: segments in progress: which begin, what becomes of them when their search is over, and which fail.
 * sentence.c computes their steps. */
#include "decode/segment_runs.h"

#include "base/buffer.h"
#include "decode/align.h"
#include "decode/coverage.h"
#include "decode/replace_unknown.h"
#include "io/model_core.h"
#include "search/whole_text.h"

#include <stdlib.h>
#include <string.h>

enum { USUAL_BEAM = 8 }; /* memory for wider beams is not kept for later segments */

static void segment_run_free(segment_run *run)
{
    sentence_free(&run->sentence);
    free(run);
}

void segment_runs_free(segment_runs *r)
{
    for (size_t i = 0; i < r->made; i++)
        segment_run_free(r->runs[i]);
    free(r->runs);
    free(r->step);
    free(r->scratch.logits);
    *r = (segment_runs){.setup = r->setup};
}

static sentence_model translate_model(const segment_runs *r, rapt_tape *t, sentence_scratch *scratch)
{
    const ensemble *e = &r->setup->ensemble;
    return (sentence_model){t, e->nets, e->count, r->setup->o.compute.kv_cache, scratch};
}

/* ---- how segments end --------------------------------------------------------------------------------------------- */

static void translate_stop(translate_item *item)
{
    item->stopped = true;
    translate_text_end(item);
}

static rapt_code translate_deliver(const rapt_model *m, const search_result *r, size_t n, rapt_translation *out, rapt_error *err)
{
    const rapt_tokenizer *k = m->translation.target;
    n = r->count < n ? r->count : n;
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
static bool translate_copy_tokens(const rapt_model *m, const int32_t *ids, size_t count, int32_t **out, size_t *out_count)
{
    *out_count = count > 0 && ids[count - 1] == m->translation.special.eos ? count - 1 : count;
    *out = malloc((*out_count + 1) * sizeof **out);
    if (*out && *out_count > 0)
        memcpy(*out, ids, *out_count * sizeof *ids);
    return *out != NULL;
}

/* The tokens that alignments are about. */
static rapt_code translate_keep_tokens(const rapt_model *m, const source_segment *source, const search_result *r,
                                       rapt_translation *out, rapt_error *err)
{
    bool ok = translate_copy_tokens(m, source->ids, source->count, &out->source, &out->source_count);
    for (size_t i = 0; i < out->count && ok; i++) {
        rapt_hypothesis *h = &out->hypotheses[i];
        ok = translate_copy_tokens(m, r->best[i].tokens, r->best[i].length, &h->tokens, &h->token_count);
        ok = ok && (h->log_probs = malloc((h->token_count + 1) * sizeof *h->log_probs));
        if (ok && h->token_count > 0)
            memcpy(h->log_probs, r->best[i].log_probs, h->token_count * sizeof *h->log_probs);
    }
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the tokens of a translation");
}

static rapt_code translate_align(rapt_tape *t, const rapt_model *m, const source_segment *source, const search_result *r,
                                 rapt_translation *out, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < out->count && !code; i++)
        code = align_tokens(t, m, source->ids, source->count, r->best[i].tokens, r->best[i].length, &out->hypotheses[i].alignment,
                            err);
    return code;
}

static rapt_code translate_write(const rapt_model *m, rapt_tape *t, const translate_item *item, search_result *found,
                                 rapt_error *err)
{
    const rapt_translate_options *o = &item->text->settings.o;
    rapt_code code = o->coverage_penalty > 0 ? coverage_rank(t, m, item->source, o->coverage_penalty, found, err) : RAPT_OK;
    code = code ? code : translate_deliver(m, found, o->n_best, item->out, err);
    if (!code && o->tokens)
        code = translate_keep_tokens(m, item->source, found, item->out, err);
    if (!code && o->alignment)
        code = translate_align(t, m, item->source, found, item->out, err);
    for (size_t i = 0; o->replace_unknown && i < item->out->count && !code; i++)
        code = replace_unknown(t, item, &found->best[i], &item->out->hypotheses[i], err);
    return code;
}

static void translate_finish(const rapt_model *m, rapt_tape *t, segment_run *run)
{
    rapt_error err = {0};
    search_result found = search_found(run->sentence.search);
    translate_item *item = run->item;
    run->item = NULL;
    if (translate_write(m, t, item, &found, &err))
        translate_text_fail(item, &err);
    else
        translate_text_end(item);
}

static void translate_fail(segment_run *run, const rapt_error *err)
{
    translate_text_fail(run->item, err);
    run->item = NULL;
}

/* ---- how they begin ----------------------------------------------------------------------------------------------- */

/* Makes runs up to number `count`. */
static bool segment_runs_make(segment_runs *r, size_t count)
{
    if (!ARRAY_RESERVE(&r->runs, &r->capacity, count) || !ARRAY_RESERVE(&r->step, &r->step_capacity, count))
        return false;
    while (r->made < count) {
        segment_run *run = calloc(1, sizeof *run);
        if (!run)
            return false;
        if (sentence_init(&run->sentence, r->setup->ensemble.count, NULL)) {
            segment_run_free(run);
            return false;
        }
        r->runs[r->made++] = run;
    }
    return true;
}

static sentence_source translate_source(const rapt_model *m, const segment_run *run)
{
    const translate_item *item = run->item;
    const search_options *o = run->is_again ? &run->again : &item->text->settings.search;
    return (sentence_source){item->source->ids, item->source->count, item->begin,
                             search_limit(m, o, item->source->count, item->begin.count), item->row, o,
                             {item->terms.phrases, run->is_unforced ? 0 : item->terms.count}};
}

/* Encodes runs[count] together. */
static rapt_code translate_encode(const segment_runs *r, rapt_tape *t, segment_run *const *runs, size_t count, rapt_error *err)
{
    const sentence_model on = translate_model(r, t, NULL);
    sentence_source *sources = malloc(count * sizeof *sources);
    sentence **sentences = malloc(count * sizeof *sentences);
    rapt_code code = sources && sentences ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu segments", count);
    for (size_t i = 0; i < count && !code; i++) {
        sources[i] = translate_source(r->setup->m, runs[i]);
        const size_t beam = search_beam(sources[i].options, &sources[i].phrases);
        runs[i]->beam = beam > runs[i]->beam ? beam : runs[i]->beam;
        sentences[i] = &runs[i]->sentence;
    }
    code = code ? code : sentence_begin(&on, sentences, sources, count, err);
    free(sources);
    free(sentences);
    return code;
}

/* Encodes each run by itself after they failed together, so that a failure depends on its segment alone. Out of memory does not
 * concern one segment: then all fail. */
static void translate_encode_alone(const segment_runs *r, rapt_tape *t, segment_run *const *runs, size_t count,
                                   const rapt_error *together)
{
    for (size_t i = 0; i < count; i++) {
        rapt_error err = {0};
        if (count == 1 || together->code == RAPT_ERR_MEMORY)
            translate_fail(runs[i], together);
        else if (translate_encode(r, t, &runs[i], 1, &err))
            translate_fail(runs[i], &err);
    }
}

/* Frees memory of runs without an item that is larger than usual, or that a usual number of segments does not need. */
static void segment_runs_trim(segment_runs *r)
{
    for (size_t i = r->made; i-- > r->count;)
        if (r->runs[i]->beam > USUAL_BEAM || i - r->count >= r->setup->o.batch) {
            segment_run_free(r->runs[i]);
            r->runs[i] = r->runs[--r->made];
        }
}

/* Moves the runs without an item behind the others. */
static void segment_runs_close_up(segment_runs *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->count; i++)
        if (r->runs[i]->item) {
            segment_run *run = r->runs[i];
            r->runs[i] = r->runs[kept];
            r->runs[kept++] = run;
        }
    r->count = kept;
    segment_runs_trim(r);
}

void segment_runs_begin(segment_runs *r, rapt_tape *t, translate_item *const *items, size_t count)
{
    rapt_error err = {0};
    segment_run **runs;
    const size_t before = r->count;
    if (!segment_runs_make(r, before + count)) {
        rapt_fail(&err, RAPT_ERR_MEMORY, "out of memory for a batch of %zu segment%s", count, count == 1 ? "" : "s");
        for (size_t i = 0; i < count; i++)
            translate_text_fail(items[i], &err);
        return;
    }
    for (size_t i = 0; i < count; i++)
        if (!translate_text_is_wanted(items[i]))
            translate_text_end(items[i]);
        else if (translate_text_is_stopped(items[i]))
            translate_stop(items[i]);
        else {
            r->runs[r->count]->is_again = r->runs[r->count]->is_unforced = false;
            r->runs[r->count++]->item = items[i];
        }
    runs = r->runs + before;
    if (r->count > before && translate_encode(r, t, runs, r->count - before, &err))
        translate_encode_alone(r, t, runs, r->count - before, &err);
    segment_runs_close_up(r);
}

/* ---- a step ------------------------------------------------------------------------------------------------------- */

static bool translate_is_without_terms(const segment_run *run)
{
    return !run->is_unforced && run->item->terms.count > 0 && search_found(run->sentence.search).count == 0;
}

/* Whether the best translation has bytes that are not a character: then it is searched again. */
static bool translate_is_broken(const rapt_model *m, const segment_run *run)
{
    const search_result found = search_found(run->sentence.search);
    return !run->is_again && !run->item->text->settings.search.policy && found.count > 0 &&
           !whole_text_is(m->translation.target, found.best[0].tokens, found.best[0].length);
}

static void translate_begin_again(const segment_runs *r, rapt_tape *t, segment_run *run)
{
    rapt_error err = {0};
    if (translate_encode(r, t, &run, 1, &err))
        translate_fail(run, &err);
}

/* Whether the best translation was not to be had, and the segment must be searched in another way. */
static bool translate_takes_another_way(const rapt_model *m, segment_run *run)
{
    if (translate_is_without_terms(run)) {
        run->is_unforced = run->item->terms.lacks = true;
        return true;
    }
    if (!translate_is_broken(m, run))
        return false;
    run->is_again = true;
    run->again = run->item->text->settings.search;
    run->again.whole = m->translation.target;
    return true;
}

/* Ends the runs that are over, have failed alone, or are cancelled. */
static void segment_runs_end(segment_runs *r, rapt_tape *t)
{
    for (size_t i = 0; i < r->count; i++) {
        segment_run *run = r->runs[i];
        if (run->sentence.code)
            translate_fail(run, &run->sentence.error);
        else if (!sentence_is_over(&run->sentence))
            continue;
        else if (translate_takes_another_way(r->setup->m, run))
            translate_begin_again(r, t, run);
        else
            translate_finish(r->setup->m, t, run);
    }
    segment_runs_close_up(r);
}

static void segment_runs_end_stopped(segment_runs *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (translate_text_is_stopped(r->runs[i]->item)) {
            translate_stop(r->runs[i]->item);
            r->runs[i]->item = NULL;
        }
    segment_runs_close_up(r);
}

/* A pass fails for want of memory only, which does not concern one segment: all fail. */
segment_work segment_runs_step(segment_runs *r, rapt_tape *t)
{
    rapt_error err = {0};
    const sentence_model on = translate_model(r, t, &r->scratch);
    segment_runs_end_stopped(r);
    segment_work work = {.segments = r->count};
    if (r->count == 0)
        return work;
    for (size_t i = 0; i < r->count; i++) {
        r->step[i] = &r->runs[i]->sentence;
        work.rows += search_rows(r->runs[i]->sentence.search);
    }
    rapt_code code = sentence_step(&on, r->step, r->count, &err);
    for (size_t i = 0; i < r->count && code; i++)
        translate_fail(r->runs[i], &err);
    if (!code)
        segment_runs_end(r, t);
    segment_runs_close_up(r);
    return work;
}
