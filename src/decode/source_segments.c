/* decode/source_segments.c: splits lines into rows of tokens that a model takes, and joins the translations.
 * text/prose/sentences.c finds the places where a text may be split. */
#include "decode/source_segments.h"

#include "base/buffer.h"
#include "decode/align.h"
#include "text/prose/sentences.h"
#include "text/tokenizer.h"

#include <stdlib.h>
#include <string.h>

typedef struct splitting {
    source_segments *out;
    const rapt_tokenizer *tokenizer;
    source_limits limits;
    const char *text;
    size_t size;
    source_fit *fit;
    rapt_error *err;
    bool repeats; /* the line's language is repeated before each segment */
    size_t from, end; /* bytes of the text of the segment that is added */
} splitting;

static rapt_code source_segments_fail_memory(rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a line's tokens");
}

static rapt_code add_segment(source_segments *p, source_segment segment)
{
    if (!ARRAY_RESERVE(&p->segment, &p->capacity, p->count + 1))
        return RAPT_ERR_MEMORY;
    segment.index = p->count;
    p->segment[p->count++] = segment;
    return RAPT_OK;
}

static size_t first_tokens(const splitting *s)
{
    return s->limits.begin_count + s->repeats;
}

/* Whether `count` tokens fit between the begin tokens and <eos>. */
static bool source_segments_take(const splitting *s, size_t count)
{
    return first_tokens(s) + count < s->limits.max_len;
}

/* Takes over `ids`. Adds <eos> if it fits. */
static rapt_code add_ids(splitting *s, int32_t *ids, size_t count)
{
    const size_t begin = first_tokens(s);
    bool fits = source_segments_take(s, count);
    size_t whole = fits ? begin + count + 1 : s->limits.max_len, kept = fits ? count : whole - begin;
    for (size_t i = 0; i < count; i++)
        s->fit->unknown |= ids[i] == s->limits.unknown;
    int32_t *row = count > 0 ? realloc(ids, (whole > count ? whole : count) * sizeof *ids) : NULL;
    if (row) {
        memmove(row + begin, row, kept * sizeof *row);
        for (size_t i = 0; i < begin; i++)
            row[i] = i < s->limits.begin_count ? s->limits.begin[i] : s->limits.language;
    }
    if (row && fits)
        row[begin + count] = s->limits.eos;
    if (row && !add_segment(s->out, (source_segment){row, whole, .head = begin, .from = s->from, .end = s->end})) {
        s->fit->cut |= !fits;
        return RAPT_OK;
    }
    free(row ? row : ids);
    return count > 0 ? source_segments_fail_memory(s->err) : RAPT_OK;
}

static rapt_code source_segments_encode(splitting *s, size_t from, size_t end, int32_t **ids, size_t *count)
{
    rapt_code code = tokenizer_encode_within(s->tokenizer, s->text + from, end - from, s->limits.specials, ids, count, s->err);
    for (size_t i = 0; i < *count && !code; i++)
        if ((*ids)[i] == s->limits.skipped) {
            free(*ids);
            code = rapt_fail(s->err, RAPT_ERR_VALUE, "the text has token %d, which is padding", (int)s->limits.skipped);
        }
    return code;
}

static rapt_code add_text(splitting *s, size_t from, size_t end)
{
    int32_t *ids;
    size_t count;
    rapt_code code = source_segments_encode(s, from, end, &ids, &count);
    s->from = from;
    s->end = end;
    return code ? code : add_ids(s, ids, count);
}

static rapt_code fits(splitting *s, size_t from, size_t end, bool *yes)
{
    int32_t *ids;
    size_t count;
    rapt_code code = source_segments_encode(s, from, end, &ids, &count);
    if (code)
        return code;
    *yes = source_segments_take(s, count);
    free(ids);
    return RAPT_OK;
}

/* ---- what fits ---------------------------------------------------------------------------------------------- */

static size_t pass_cuts(const splitting *s, size_t at, size_t end, sentences_cut kind, size_t cuts)
{
    for (; cuts > 0 && at < end; cuts--)
        at = sentences_end(s->text, end, sentences_skip_spaces(s->text, end, at), kind);
    return at;
}

/* The last place to split, after `from` and at most `end`, up to which the text fits; `from`: none. Tries 1, 2, 4 ... places more
 * until the text doesn't fit, then half as many, so that it never encodes much more than what fits. */
static rapt_code find_longest(splitting *s, size_t from, size_t end, sentences_cut kind, size_t *longest)
{
    bool up = true;
    *longest = from;
    for (size_t cuts = 1; cuts > 0 && *longest < end; cuts = up ? 2 * cuts : cuts / 2) {
        bool yes;
        size_t next = pass_cuts(s, *longest, end, kind, cuts);
        rapt_code code = fits(s, from, next, &yes);
        if (code)
            return code;
        if (yes)
            *longest = next;
        up = up && yes;
    }
    return RAPT_OK;
}

/* The last end of a clause before the spaces at `end`, or `from`. */
static size_t last_clause(const splitting *s, size_t from, size_t end)
{
    size_t last = from, size = sentences_skip_spaces(s->text, s->size, end); /* marks want them */
    for (size_t at = from; at <= end;) {
        at = sentences_end(s->text, size, sentences_skip_spaces(s->text, end, at), CUT_CLAUSE);
        last = at <= end ? at : last;
    }
    return last;
}

/* ---- lines -------------------------------------------------------------------------------------------------- */

/* Splits a text without spaces: Chinese, perhaps, or an address. */
static rapt_code split_word(splitting *s, size_t from, size_t end)
{
    rapt_code code = RAPT_OK;
    while (!code && from < end) {
        size_t stop;
        code = find_longest(s, from, end, CUT_CLAUSE, &stop);
        if (!code && stop == from)
            stop = pass_cuts(s, from, end, CUT_CLAUSE, 1); /* it will be truncated */
        if (!code)
            code = add_text(s, from, stop);
        from = stop;
    }
    return code;
}

static rapt_code split_sentence(splitting *s, size_t from, size_t end)
{
    rapt_code code = RAPT_OK;
    while (!code && from < end) {
        size_t stop;
        if ((code = find_longest(s, from, end, CUT_SPACE, &stop)) != RAPT_OK)
            break;
        s->fit->split |= stop < end;
        if (stop == from) {
            stop = pass_cuts(s, from, end, CUT_SPACE, 1);
            code = split_word(s, from, stop);
        } else {
            size_t clause = stop < end ? last_clause(s, from, stop) : end;
            stop = clause > from ? clause : stop;
            code = add_text(s, from, stop);
        }
        from = sentences_skip_spaces(s->text, end, stop);
    }
    return code;
}

static rapt_code split_line(splitting *s)
{
    rapt_code code = RAPT_OK;
    size_t from = sentences_skip_spaces(s->text, s->size, s->limits.language_size);
    s->repeats = s->limits.language_size > 0 && s->limits.begin_count + 1 < s->limits.max_len;
    while (!code && from < s->size) {
        size_t end = sentences_end(s->text, s->size, from, CUT_SENTENCE);
        code = split_sentence(s, from, end);
        from = sentences_skip_spaces(s->text, s->size, end);
    }
    return code;
}

rapt_code source_segments_add(source_segments *p, const rapt_tokenizer *k, source_limits limits, rapt_text line,
                              source_fit *fit, rapt_error *err)
{
    splitting s = {p, k, limits, line.data, line.size, fit, err, false, 0, line.size};
    int32_t *ids;
    size_t count;
    if (sentences_skip_spaces(s.text, s.size, 0) == s.size) /* spaces are tokens to some tokenizers */
        return RAPT_OK;
    if (limits.by_sentence && sentences_are_several(s.text, s.size))
        return split_line(&s);
    rapt_code code = source_segments_encode(&s, 0, s.size, &ids, &count);
    if (code)
        return code;
    if (source_segments_take(&s, count))
        return add_ids(&s, ids, count);
    free(ids);
    fit->split = true;
    return split_line(&s);
}

rapt_code source_segments_add_tokens(source_segments *p, source_limits limits, const rapt_source_tokens *tokens, size_t vocab,
                                     source_fit *fit, rapt_error *err)
{
    splitting s = {.out = p, .limits = limits, .fit = fit, .err = err};
    for (size_t i = 0; i < tokens->count; i++) {
        const int32_t id = tokens->ids[i];
        if (id < 0 || (size_t)id >= vocab)
            return rapt_fail(err, RAPT_ERR_VALUE, "token %zu: id %d, but the model has %zu", i + 1, (int)id, vocab);
        if (id == limits.padding || id == limits.eos)
            return rapt_fail(err, RAPT_ERR_VALUE, "token %zu: id %d is %s", i + 1, (int)id,
                             id == limits.eos ? "<eos>, which the model puts behind each source" : "padding");
    }
    const size_t count = tokens->count < limits.max_len ? tokens->count : limits.max_len; /* more are cut anyway */
    int32_t *ids = malloc((count + 1) * sizeof *ids);
    if (!ids)
        return source_segments_fail_memory(err);
    if (count > 0)
        memcpy(ids, tokens->ids, count * sizeof *ids);
    return add_ids(&s, ids, count);
}

void source_segments_free(source_segments *p)
{
    for (size_t i = 0; i < p->count; i++)
        free(p->segment[i].ids);
    free(p->segment);
    *p = (source_segments){0};
}

/* ---- joining ------------------------------------------------------------------------------------------------ */

static const rapt_hypothesis *nth(const rapt_translation *t, size_t n)
{
    static char no_text[] = "";
    static const rapt_hypothesis none = {.text = no_text};
    return t->count ? &t->hypotheses[n < t->count ? n : t->count - 1] : &none;
}

static bool join_nth(const rapt_translation *segments, size_t count, size_t n, rapt_hypothesis *out)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += strlen(nth(&segments[i], n)->text) + 1;
    char *at = out->text = malloc(size + 1);
    if (!at)
        return false;
    for (size_t i = 0; i < count; i++) {
        const rapt_hypothesis *h = nth(&segments[i], n);
        if (*h->text && sentences_want_space(out->text, (size_t)(at - out->text)))
            *at++ = ' ';
        const size_t length = strlen(h->text);
        memcpy(at, h->text, length);
        at += length;
        out->score += h->score;
        out->log_prob += h->log_prob;
    }
    *at = '\0';
    return true;
}

static bool join_alignments(const rapt_translation *segments, size_t count, size_t n, rapt_hypothesis *out)
{
    const rapt_alignment **each = malloc(count * sizeof *each);
    for (size_t i = 0; each && i < count; i++)
        each[i] = &nth(&segments[i], n)->alignment;
    bool ok = each && align_join(each, count, &out->alignment);
    free(each);
    return ok;
}

/* Appends to a list of `count` elements of `size` bytes; NULL: out of memory, and the list is as it was. */
static void *source_segments_append(void *list, size_t count, const void *more, size_t more_count, size_t size)
{
    char *longer = realloc(list, (count + more_count + 1) * size);
    if (longer && more_count > 0)
        memcpy(longer + count * size, more, more_count * size);
    return longer;
}

static bool join_hypothesis_tokens(const rapt_hypothesis *from, rapt_hypothesis *to)
{
    int32_t *tokens = source_segments_append(to->tokens, to->token_count, from->tokens, from->token_count, sizeof *tokens);
    to->tokens = tokens ? tokens : to->tokens;
    double *log_probs = source_segments_append(to->log_probs, to->token_count, from->log_probs, from->token_count,
                                               sizeof *log_probs);
    to->log_probs = log_probs ? log_probs : to->log_probs;
    to->token_count += from->token_count;
    return tokens && log_probs;
}

static bool join_source_tokens(const rapt_translation *from, rapt_translation *to)
{
    int32_t *source = source_segments_append(to->source, to->source_count, from->source, from->source_count, sizeof *source);
    to->source = source ? source : to->source;
    to->source_count += from->source_count;
    return source != NULL;
}

static bool join_tokens(const rapt_translation *segments, size_t count, rapt_translation *out)
{
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++) {
        ok = !segments[i].source || join_source_tokens(&segments[i], out);
        for (size_t n = 0; n < out->count && ok; n++) {
            const rapt_hypothesis *from = nth(&segments[i], n);
            ok = !from->tokens || join_hypothesis_tokens(from, &out->hypotheses[n]);
        }
    }
    return ok;
}

/* An empty line is one empty hypothesis. */
static rapt_code fill_empty(rapt_translation *out, rapt_error *err)
{
    out->hypotheses = calloc(1, sizeof *out->hypotheses);
    if (!out->hypotheses || !(out->hypotheses[0].text = calloc(1, 1)))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a translation");
    out->count = 1;
    return RAPT_OK;
}

static rapt_code join_several(rapt_translation *segments, size_t count, rapt_translation *out, rapt_error *err)
{
    size_t best = 1;
    for (size_t i = 0; i < count; i++)
        best = segments[i].count > best ? segments[i].count : best;
    out->hypotheses = calloc(best, sizeof *out->hypotheses);
    bool ok = out->hypotheses != NULL;
    for (size_t n = 0; ok && n < best; n++) {
        ok = join_nth(segments, count, n, &out->hypotheses[n]) && join_alignments(segments, count, n, &out->hypotheses[n]);
        out->count = n + 1;
    }
    ok = ok && join_tokens(segments, count, out);
    rapt_translations_free(segments, count);
    return ok ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a translation");
}

/* `out` already says whether the line was truncated. */
rapt_code source_segments_join(rapt_translation *segments, size_t count, rapt_translation *out, rapt_error *err)
{
    if (count == 0)
        return fill_empty(out, err);
    if (count > 1)
        return join_several(segments, count, out, err);
    out->hypotheses = segments->hypotheses;
    out->count = segments->count;
    out->source = segments->source;
    out->source_count = segments->source_count;
    *segments = (rapt_translation){0};
    return RAPT_OK;
}
