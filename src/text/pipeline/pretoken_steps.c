/* text/pipeline/pretoken_steps.c: a step reads one list of pieces and writes another. */
#include "text/pipeline/pretoken_steps.h"

#include "text/hf/byte_letters.h"
#include "text/pipeline/char_classes.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

void pretoken_steps_free(pretoken_steps *p)
{
    for (size_t i = 0; i < p->count; i++)
        text_pattern_free(&p->list[i].pattern);
    free(p->list);
    *p = (pretoken_steps){0};
}

/* One piece on its way through one step. */
typedef struct pretoken_work {
    const pretoken_step *step;
    const uint8_t *classes;
    text_matcher matcher;
    const char *text;
    const rapt_span *from; /* the places of its bytes, or NULL */
    size_t size, first_bytes;
    piece_list *out;
    rapt_error *err;
} pretoken_work;

static rapt_code pretoken_no_memory(const pretoken_work *w)
{
    return rapt_fail(w->err, RAPT_ERR_MEMORY, "out of memory to split a text");
}

/* ---- by a pattern, by classes ------------------------------------------------------------------------------- */

static rapt_code split_by_pattern(pretoken_work *w, span_joiner *j)
{
    rapt_code code = RAPT_OK;
    for (size_t at = 0, end; at < w->size && !code; at = end) {
        bool match = false;
        code = text_matcher_next(&w->matcher, w->text, w->size, at, &end, &match, w->err);
        if (!code && !span_joiner_put(j, at, end, match))
            code = pretoken_no_memory(w);
    }
    return code;
}

/* A kind of character; runs of 0 are text between matches. */
static unsigned pretoken_group(const pretoken_work *w, uint32_t code)
{
    unsigned class = w->classes[code];
    switch (w->step->kind) {
    case PRETOKEN_WHITE: return char_is_white(code);
    case PRETOKEN_DIGITS: return (class & CHAR_NUMERIC) != 0;
    case PRETOKEN_PUNCTUATION: return (class & CHAR_PUNCTUATION) != 0;
    default: return class & CHAR_WORD ? 1 : char_is_white(code) ? 0 : 2; /* PRETOKEN_WORDS */
    }
}

/* Characters of one group are one span if they are text, and for PRETOKEN_WORDS also if they match; in other steps each match is
 * one character. */
static rapt_code split_by_group(pretoken_work *w, span_joiner *j)
{
    bool runs = w->step->kind == PRETOKEN_WORDS, ok = true;
    uint32_t code = 0;
    for (size_t at = 0, end, used; ok && at < w->size; at = end) {
        end = at + utf8_decode(w->text + at, w->size - at, &code);
        unsigned group = pretoken_group(w, code);
        bool more = runs || group == 0;
        while (more && (used = utf8_decode(w->text + end, w->size - end, &code)) > 0 && pretoken_group(w, code) == group)
            end += used;
        ok = span_joiner_put(j, at, end, group != 0);
    }
    return ok ? RAPT_OK : pretoken_no_memory(w);
}

static rapt_code split_piece(pretoken_work *w)
{
    const pretoken_step *s = w->step;
    span_joiner j = {.out = w->out, .text = w->text, .from = w->from, .first_bytes = w->first_bytes, .behavior = s->behavior,
                     .invert = s->invert};
    rapt_code code = s->kind == PRETOKEN_SPLIT ? split_by_pattern(w, &j) : split_by_group(w, &j);
    return code || span_joiner_end(&j) ? code : pretoken_no_memory(w);
}

/* ---- steps that change the text ----------------------------------------------------------------------------- */

/* Copies the piece with marks for spaces; *first_bytes: the number of bytes that come from the first character. */
static bool put_marks(pretoken_work *w, size_t *first_bytes)
{
    const char *mark = w->step->mark;
    buffer *out = &w->out->text, *places = &w->out->from;
    size_t from = out->size, length = strlen(mark);
    bool marked = w->size >= length && memcmp(w->text, mark, length) == 0, ok = true;
    bool may = w->step->prepend == METASPACE_ALWAYS || (w->step->prepend == METASPACE_FIRST && w->first_bytes > 0);
    if (w->text[0] != ' ' && !marked && may)
        ok = sources_put(out, places, mark, length, w->from);
    size_t before = out->size - from;
    *first_bytes = w->first_bytes > 0 ? before : 0;
    for (size_t at = 0; ok && at < w->size; at++) {
        bool space = w->text[at] == ' ';
        ok = sources_put(out, places, space ? mark : w->text + at, space ? length : 1, sources_at(w->from, at));
        if (at < w->first_bytes)
            *first_bytes = out->size - from;
    }
    return ok;
}

/* Marks bytes begin .. end - 1 of a piece that is at `at`; the first `first` bytes come from the first character. */
static bool mark_part(pretoken_work *w, size_t at, size_t begin, size_t end, size_t first)
{
    size_t last = first < end ? first : end;
    return piece_list_mark(w->out, at + begin, at + end, last > begin ? last - begin : 0, -1);
}

static rapt_code metaspace_piece(pretoken_work *w)
{
    const char *mark = w->step->mark;
    size_t at = w->out->text.size, length = strlen(mark), first, begin = 0;
    bool ok = put_marks(w, &first);
    size_t size = w->out->text.size - at;
    for (size_t i = 1; w->step->split && ok && i + length <= size; i++) {
        if (memcmp(w->out->text.data + at + i, mark, length) != 0)
            continue;
        ok = mark_part(w, at, begin, i, first);
        begin = i;
    }
    return ok && mark_part(w, at, begin, size, first) ? RAPT_OK : pretoken_no_memory(w);
}

static rapt_code space_first_piece(pretoken_work *w)
{
    size_t at = w->out->text.size, more = w->text[0] != ' ';
    bool ok = sources_put(&w->out->text, &w->out->from, " ", more, w->from) &&
              sources_copy(&w->out->text, &w->out->from, w->text, w->from, w->size) &&
              piece_list_mark(w->out, at, at + more + w->size, w->first_bytes > 0 ? w->first_bytes + more : 0, -1);
    return ok ? RAPT_OK : pretoken_no_memory(w);
}

/* The places of letters, one or two bytes for each byte. */
static bool put_letter_places(pretoken_work *w)
{
    bool ok = true;
    char letter[2];
    for (size_t i = 0; w->from && ok && i < w->size; i++)
        for (size_t used = byte_letters_write(w->text + i, 1, letter); ok && used > 0; used--)
            ok = buffer_append(&w->out->from, w->from + i, sizeof *w->from);
    return ok;
}

static rapt_code letters_piece(pretoken_work *w)
{
    buffer *out = &w->out->text;
    size_t at = out->size;
    if (!buffer_reserve(out, 2 * w->size) || !put_letter_places(w))
        return pretoken_no_memory(w);
    size_t first = byte_letters_write(w->text, w->first_bytes, out->data + at);
    out->size += byte_letters_write(w->text, w->size, out->data + at);
    return piece_list_mark(w->out, at, out->size, first, -1) ? RAPT_OK : pretoken_no_memory(w);
}

/* ---- all of them -------------------------------------------------------------------------------------------- */

static rapt_code pretoken_piece(pretoken_work *w)
{
    switch (w->step->kind) {
    case PRETOKEN_METASPACE: return metaspace_piece(w);
    case PRETOKEN_SPACE_FIRST: return space_first_piece(w);
    case PRETOKEN_BYTE_LEVEL: return letters_piece(w);
    default: return split_piece(w);
    }
}

static rapt_code run_pretoken_step(pretoken_work *w, const piece_list *in)
{
    rapt_code code = RAPT_OK;
    piece_list_clear(w->out);
    for (size_t i = 0; i < in->count && !code; i++) {
        const text_piece *p = &in->list[i];
        w->text = piece_list_text(in, i), w->from = piece_list_from(in, i), w->size = p->size, w->first_bytes = p->first_bytes;
        if (p->id >= 0)
            code = piece_list_add(w->out, w->text, w->from, p->size, p->first_bytes, p->id) ? RAPT_OK : pretoken_no_memory(w);
        else
            code = pretoken_piece(w);
    }
    return code;
}

rapt_code pretoken_steps_run(const pretoken_steps *p, const uint8_t *classes, piece_list *list, rapt_error *err)
{
    piece_list other = {0};
    rapt_code code = RAPT_OK;
    const size_t limit = text_growth_limit(list->text.size);
    for (size_t i = 0; i < p->count && !code; i++) {
        pretoken_work w = {.step = &p->list[i], .classes = classes, .out = &other, .err = err};
        code = text_matcher_begin(&w.matcher, &w.step->pattern, err);
        code = code ? code : run_pretoken_step(&w, list);
        text_matcher_end(&w.matcher);
        if (!code && other.text.size > limit)
            code = text_growth_fail(limit, err);
        piece_list done = other;
        other = *list;
        *list = done;
    }
    piece_list_free(&other);
    return code;
}
