/* text/pipeline/pipeline_unigram.c: Unigram (Kudo 2018, "Subword Regularization"): among all ways to cut a piece into tokens, the
 * one with the largest sum of scores. For pipeline_model.c. Sums are double and from left to right, and among equal ones the
 * first that was found stays, as in `tokenizers`; SentencePiece's own sums are float. */
#include "text/pipeline/pipeline_model.h"

#include "base/buffer.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

/* The best way to a place in the piece. */
typedef struct unigram_place {
    double score;
    int32_t from, id; /* its last token's beginning and id; `from` -1: no way found yet */
} unigram_place;

/* ---- the best cuts ------------------------------------------------------------------------------------------ */

static void offer(unigram_place *to, double score, size_t from, int32_t id)
{
    if (to->from < 0 || score > to->score)
        *to = (unigram_place){score, (int32_t)from, id};
}

/* Offers the tokens that begin at `at`. Returns whether one of them is the character there, of `length` bytes. */
static bool offer_tokens(const pipeline_model *m, const char *text, size_t size, size_t at, size_t length, unigram_place *places)
{
    bool single = false;
    pair_merge next = MODEL_TRIE_ROOT;
    for (size_t i = at; i < size; i++) {
        next = model_trie_next(m, next, text[i]);
        if (next.rank == PAIR_NEVER)
            break;
        if (next.rank == MODEL_NO_TOKEN)
            continue;
        offer(&places[i + 1], m->scores[next.rank] + places[at].score, at, (int32_t)next.rank);
        single = single || i + 1 == at + length;
    }
    return single;
}

static rapt_code find_best_cuts(const pipeline_model *m, const char *text, size_t size, unigram_place *places, rapt_error *err)
{
    uint32_t code;
    for (size_t i = 0; i <= size; i++)
        places[i] = (unigram_place){0, -1, -1};
    for (size_t at = 0, length; at < size; at += length) {
        length = utf8_decode(text + at, size - at, &code);
        if (offer_tokens(m, text, size, at, length, places))
            continue;
        if (m->unk < 0 && (places[at + length].from < 0 || places[at].score + m->unk_score > places[at + length].score))
            return pipeline_model_unknown(m, err) < 0 ? RAPT_ERR_VALUE : RAPT_OK;
        offer(&places[at + length], m->unk_score + places[at].score, at, m->unk);
    }
    return RAPT_OK;
}

/* Puts the ids of bytes begin .. end - 1, for which the model has no token, in reverse order. */
static rapt_code put_unknown_run(const pipeline_model *m, const char *text, size_t begin, size_t end, model_work *w,
                                 rapt_error *err)
{
    int32_t whole = token_list_find(&m->vocab, text + begin, end - begin);
    bool bytes = m->byte_fallback && whole < 0;
    for (size_t i = begin; i < end && bytes; i++)
        bytes = m->bytes[(unsigned char)text[i]] >= 0;
    if (!bytes)
        return model_work_put(w, whole >= 0 ? whole : m->unk, err);
    rapt_code code = RAPT_OK;
    for (size_t i = end; i > begin && !code; i--)
        code = model_work_put(w, m->bytes[(unsigned char)text[i - 1]], err);
    return code;
}

/* Puts the best way, from its end to its beginning; adjacent unknown characters become one. */
static rapt_code put_backwards(const pipeline_model *m, const char *text, size_t size, const unigram_place *places, model_work *w,
                               rapt_error *err)
{
    rapt_code code = RAPT_OK;
    size_t run = 0; /* where a run of unknown characters ends; 0: no run */
    for (size_t end = size; end > 0 && !code; end = (size_t)places[end].from) {
        bool unknown = places[end].id == m->unk;
        if (unknown && run == 0)
            run = end;
        if (!unknown && run > 0) {
            code = put_unknown_run(m, text, end, run, w, err);
            run = 0;
        }
        if (!unknown && !code)
            code = model_work_put(w, places[end].id, err);
    }
    return !code && run > 0 ? put_unknown_run(m, text, 0, run, w, err) : code;
}

static void reverse_ids(int32_t *ids, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        int32_t id = ids[i];
        ids[i] = ids[count - 1 - i];
        ids[count - 1 - i] = id;
    }
}

rapt_code pipeline_unigram_encode(const pipeline_model *m, const char *text, size_t size, model_work *w, rapt_error *err)
{
    size_t begun = w->count;
    if (size > INT32_MAX / 2)
        return rapt_fail(err, RAPT_ERR_VALUE, "a piece of %zu bytes is too long to cut", size);
    if (!ARRAY_RESERVE(&w->places, &w->place_capacity, size + 1))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to cut a piece of text");
    rapt_code code = find_best_cuts(m, text, size, w->places, err);
    code = code ? code : put_backwards(m, text, size, w->places, w, err);
    if (!code)
        reverse_ids(w->ids + begun, w->count - begun);
    return code;
}
