/* decode/terms.c: from the terms in a line to phrases as tokens. text/glossary_match.c finds them, the search forces them. */
#include "decode/terms.h"

#include "io/model_core.h"
#include "text/glossary_core.h"
#include "text/tokenizer.h"
#include "text/unicode/unicode.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Bounds what a step of a search compares, in a segment. */
enum { MOST_TERMS = 64, MOST_TERM_TOKENS = 256 };

/* Targets of a segment, each once. */
typedef struct target_list {
    rapt_text text[MOST_TERMS];
    size_t times[MOST_TERMS];
    bool capitalized[MOST_TERMS]; /* it may begin in upper case, too */
    size_t count;
} target_list;

static rapt_code terms_fail_memory(rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the terms of a line");
}

/* False: there are too many. */
static bool terms_note(target_list *l, const glossary_match *match)
{
    const rapt_text target = match->term->target;
    size_t i = 0;
    while (i < l->count && (l->text[i].size != target.size || memcmp(l->text[i].data, target.data, target.size) != 0))
        i++;
    if (i == MOST_TERMS)
        return false;
    if (i == l->count) {
        l->text[i] = target;
        l->times[i] = 0;
        l->capitalized[i] = false;
        l->count++;
    }
    l->times[i]++;
    l->capitalized[i] = l->capitalized[i] || match->capitalized;
    return true;
}

/* ---- targets as tokens --------------------------------------------------------------------------------------------------- */

static bool terms_is_way(const rapt_model *m, const search_phrase *p, const int32_t *ids, size_t count)
{
    const rapt_special_ids *s = &m->translation.special;
    for (size_t i = 0; i < count; i++)
        if (ids[i] == s->unk || ids[i] == s->eos || ids[i] == s->bos || ids[i] == s->pad)
            return false;
    for (size_t i = 0; i < p->way_count; i++)
        if (p->ways[i].count == count && memcmp(p->ways[i].ids, ids, count * sizeof *ids) == 0)
            return false;
    return count > 0;
}

static rapt_code terms_add_way(const rapt_model *m, search_phrase *p, const char *text, size_t size, rapt_error *err)
{
    int32_t *ids = NULL;
    size_t count = 0;
    const rapt_code code = tokenizer_encode_bytes(m->translation.target, text, size, false, &ids, &count, err);
    if (code || !terms_is_way(m, p, ids, count))
        free(ids);
    else
        p->ways[p->way_count++] = (rapt_token_list){ids, count};
    return code;
}

/* With its first character in upper case, if that has one. Returns the size; `out` has room for 4 bytes more than the text. */
static size_t terms_capitalize(rapt_text text, char *out)
{
    uint32_t code = 0;
    const size_t first = utf8_decode(text.data, text.size, &code), size = utf8_put(unicode_upper(code), out);
    memcpy(out + size, text.data + first, text.size - first);
    return size + text.size - first;
}

/* At the beginning of a text and behind a space, which some tokenizers make part of the token. */
static rapt_code terms_add_ways(const rapt_model *m, search_phrase *p, rapt_text target, bool capitalized, rapt_error *err)
{
    char *spaced = malloc(target.size + 8);
    p->ways = calloc(4, sizeof *p->ways);
    if (!spaced || !p->ways) {
        free(spaced);
        return terms_fail_memory(err);
    }
    rapt_code code = RAPT_OK;
    for (int upper = 0; upper <= (int)capitalized && !code; upper++) {
        size_t size = target.size;
        spaced[0] = ' ';
        if (upper)
            size = terms_capitalize(target, spaced + 1);
        else
            memcpy(spaced + 1, target.data, size);
        code = terms_add_way(m, p, spaced + 1, size, err);
        code = code ? code : terms_add_way(m, p, spaced, size + 1, err);
    }
    free(spaced);
    return code;
}

static rapt_code terms_encode(const rapt_model *m, const target_list *l, segment_terms *out, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    size_t tokens = 0;
    out->phrases = calloc(l->count, sizeof *out->phrases);
    if (!out->phrases)
        return terms_fail_memory(err);
    for (size_t i = 0; i < l->count && !code; i++) {
        search_phrase *p = &out->phrases[out->count++];
        p->times = l->times[i];
        code = terms_add_ways(m, p, l->text[i], l->capitalized[i], err);
        const size_t length = p->way_count ? phrases_length(&(search_phrases){p, 1}) : 0;
        if (!code && (length == 0 || tokens + length > MOST_TERM_TOKENS)) {
            out->lacks = true;
            out->count--;
            for (size_t j = 0; j < p->way_count; j++)
                free(p->ways[j].ids);
            free(p->ways);
            *p = (search_phrase){0};
        } else
            tokens += length;
    }
    return code;
}

/* ---- lines ------------------------------------------------------------------------------------------------------------- */

rapt_code terms_find(const rapt_model *m, const rapt_glossary *g, rapt_text line, const source_segment *segments, size_t count,
                     segment_terms *terms, rapt_error *err)
{
    glossary_match match;
    rapt_code code = RAPT_OK;
    bool more = count > 0 && glossary_find(g, line, 0, &match);
    for (size_t i = 0; i < count && !code; i++) {
        target_list l = {.count = 0};
        for (; more && match.from < segments[i].end; more = glossary_find(g, line, match.end, &match))
            if (match.from < segments[i].from || match.end > segments[i].end || !terms_note(&l, &match))
                terms[i].lacks = true;
        code = l.count ? terms_encode(m, &l, &terms[i], err) : RAPT_OK;
    }
    return code;
}

void terms_free(segment_terms *t)
{
    for (size_t i = 0; i < t->count; i++) {
        for (size_t j = 0; j < t->phrases[i].way_count; j++)
            free(t->phrases[i].ways[j].ids);
        free(t->phrases[i].ways);
    }
    free(t->phrases);
    *t = (segment_terms){0};
}
