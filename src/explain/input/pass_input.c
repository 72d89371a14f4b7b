/* explain/input/pass_input.c: encodes texts for one pass, and refuses those that do not fit. The length is checked before unknown
 * words: a message about a book's worth of unknown words would help nobody. */
#include "explain/input/pass_input.h"

#include "io/model_core.h"
#include "search/sentence.h"
#include "search/whole_text.h"
#include "text/tokenizer.h"

#include <stdlib.h>
#include <string.h>

/* The name of a text in messages, and how it is encoded. */
typedef struct reading {
    const char *what, *with; /* "the text", " with <eos>" */
    const rapt_tokenizer *k;
    size_t vocab, max, more; /* ids and tokens that the model takes; tokens that are added to the text's own */
    const char *limit, *unit; /* "the model has", " positions" */
    bool specials; /* texts of special tokens are those tokens */
    bool framed;   /* and with the ids that the tokenizer puts before and after each text */
    bool strict;   /* unknown words are an error */
} reading;

static rapt_code pass_input_check(const reading *r, const pass_tokens *p, rapt_error *err)
{
    if (p->count == 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s is empty", r->what);
    if (p->count + r->more > r->max)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s has %zu tokens%s; %s %zu%s", r->what, p->count + r->more, r->with, r->limit,
                         r->max, r->unit);
    for (size_t i = 0; i < p->count; i++)
        if (p->ids[i] < 0 || (size_t)p->ids[i] >= r->vocab)
            return rapt_fail(err, RAPT_ERR_VALUE, "%s: token %zu is %d; the model knows %zu", r->what, i, (int)p->ids[i],
                             r->vocab);
    return RAPT_OK;
}

static rapt_code pass_input_find_unknown(const reading *r, rapt_text text, pass_tokens *p, rapt_error *err)
{
    char words[KNOWN_WORDS_TEXT];
    rapt_code code = known_words_find(r->k, text, r->specials, &p->unknown, err);
    if (code || !r->strict || p->unknown.count == 0)
        return code;
    known_words_write((const char *const *)p->unknown.words, p->unknown.count, words);
    return rapt_fail(err, RAPT_ERR_VALUE, "%s: the model does not know %s", r->what, words);
}

void pass_tokens_free(pass_tokens *p)
{
    free(p->ids);
    known_words_free(&p->unknown);
    *p = (pass_tokens){0};
}

/* The text's own tokens, with capacity for two more. */
static rapt_code pass_input_read_tokens(const reading *r, rapt_text text, pass_tokens *p, rapt_error *err)
{
    rapt_error why = {0};
    *p = (pass_tokens){0};
    rapt_code read = r->framed ? tokenizer_encode_bytes(r->k, text.data, text.size, true, &p->ids, &p->count, &why)
                               : tokenizer_encode_within(r->k, text.data, text.size, r->specials, &p->ids, &p->count, &why);
    if (read)
        return rapt_fail(err, why.code, "%s: %s", r->what, why.message);
    rapt_code code = pass_input_check(r, p, err);
    code = code ? code : pass_input_find_unknown(r, text, p, err);
    int32_t *longer = code ? NULL : realloc(p->ids, (p->count + r->more + 1) * sizeof *longer);
    if (longer) {
        p->ids = longer;
        return RAPT_OK;
    }
    pass_tokens_free(p);
    return code ? code : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the tokens of %s", r->what);
}

rapt_code pass_read_source(const rapt_model *m, rapt_text text, bool strict, pass_tokens *source, rapt_error *err)
{
    const size_t begin = m->translation.source_begin_count;
    reading r = {.what = "the text", .with = " with <eos>", .k = m->translation.source,
                 .vocab = m->translation.net->config.source_vocab,
                 .max = m->translation.max_len, .more = 1 + begin, .limit = "the model takes", .unit = "",
                 .specials = m->translation.specials_in_text, .strict = strict};
    rapt_code code = pass_input_read_tokens(&r, text, source, err);
    if (code)
        return code;
    memmove(source->ids + begin, source->ids, source->count * sizeof *source->ids);
    memcpy(source->ids, m->translation.source_begin, begin * sizeof *source->ids);
    source->count += begin;
    source->ids[source->count++] = m->translation.special.eos;
    source->ids[source->count] = m->translation.special.pad;
    return RAPT_OK;
}

rapt_code pass_read_target(const rapt_model *m, rapt_text text, bool strict, pass_tokens *target, rapt_error *err)
{
    reading r = {.what = "the target", .with = " with <bos>", .k = m->translation.target,
                 .vocab = m->translation.net->config.target_vocab,
                 .max = m->translation.net->config.max_positions, .more = 1, .limit = "the model has", .unit = " positions",
                 .specials = m->translation.specials_in_text, .strict = strict};
    rapt_code code = pass_input_read_tokens(&r, text, target, err);
    if (code)
        return code;
    memmove(target->ids + 1, target->ids, target->count * sizeof *target->ids);
    target->ids[0] = m->translation.special.bos;
    target->ids[++target->count] = m->translation.special.eos;
    return RAPT_OK;
}

rapt_code pass_read_text(const rapt_model *m, rapt_text text, bool strict, pass_tokens *p, rapt_error *err)
{
    reading r = {.what = "the text", .with = "", .k = m->language.tokenizer, .vocab = m->language.net->config.vocab,
                 .max = m->language.net->config.context, .limit = "the model's context is", .unit = "", .specials = true,
                 .framed = true, .strict = strict};
    rapt_code code = pass_input_read_tokens(&r, text, p, err);
    if (!code)
        p->ids[p->count] = 0;
    return code;
}

/* ---- the translation that the model finds ------------------------------------------------------------------ */

static rapt_code take_translation(const search_hypothesis *h, int32_t bos, pass_tokens *target, rapt_error *err)
{
    target->ids = malloc((h->length + 1) * sizeof *target->ids);
    if (!target->ids)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a translation");
    target->ids[0] = bos;
    memcpy(target->ids + 1, h->tokens, h->length * sizeof *target->ids);
    target->count = h->length;
    return RAPT_OK;
}

rapt_code pass_translate(rapt_tape *t, const rapt_model *m, const pass_tokens *source, pass_tokens *target, rapt_error *err)
{
    search_options options = {.beam = 1, .n_best = 1, .special = m->translation.special};
    const sentence_source from = {.ids = source->ids, .count = source->count, .options = &options,
                                  .limit = search_limit(m, &options, source->count, 0)};
    const sentence_net net = {.net = m->translation.net};
    const sentence_model on = {t, &net, 1, RAPT_TYPE_FP32, NULL};
    sentence s;
    *target = (pass_tokens){0};
    rapt_code code = sentence_init(&s, 1, err);
    code = code ? code : sentence_run(&on, &s, &from, err);
    const search_hypothesis *best = code ? NULL : search_found(s.search).best;
    if (!code && !whole_text_is(m->translation.target, best->tokens, best->length)) { /* as rapt_translate does */
        options.whole = m->translation.target;
        code = sentence_run(&on, &s, &from, err);
        best = code ? NULL : search_found(s.search).best;
    }
    if (!code)
        code = take_translation(best, m->translation.special.bos, target, err);
    sentence_free(&s);
    return code;
}
