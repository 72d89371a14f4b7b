/* decode/markup/markup_segments.c: cuts a document into the lines that are translated, and notes which tags stand where in them.
 * What is in no segment stays as it is. */
#include "decode/markup/markup_core.h"

#include "decode/markup/entities.h"
#include "text/utf8.h"

typedef struct cutting {
    rapt_markup *m;
    markup_tokens *tokens;
    markup_segment now;  /* the segment that is being read */
    size_t from;         /* where its line begins in m->plain */
    size_t token;        /* its first token; those before `next` are read */
    size_t next;
    size_t depth, ends;  /* start tags without their end tags, and end tags without their start tags */
    bool has_letter;
    rapt_error *err;
} cutting;

static rapt_code cut_fail_memory(const cutting *c)
{
    return rapt_fail(c->err, RAPT_ERR_MEMORY, "out of memory for a document of %zu bytes", c->m->size);
}

static size_t cut_size(const cutting *c)
{
    return c->m->plain.size - c->from;
}

static bool ends_in_space(const cutting *c)
{
    return cut_size(c) > 0 && c->m->plain.data[c->m->plain.size - 1] == ' ';
}

/* The last item of the segment; NULL: none. */
static markup_item *last_item(const cutting *c)
{
    return c->m->item_count > c->now.first ? &c->m->items[c->m->item_count - 1] : NULL;
}

/* ---- text ----------------------------------------------------------------------------------------------------------------- */

/* One character of a document's text, or a reference that stays as it is. */
typedef struct cut_character {
    size_t end;       /* of its bytes */
    char bytes[8];    /* [size] */
    size_t size;
    uint32_t code;
    bool opaque;
} cut_character;

static void add_character(cut_character *ch, uint32_t code)
{
    ch->size += utf8_put(code, ch->bytes + ch->size);
}

static cut_character read_character(const rapt_markup *m, const markup_token *t, size_t at)
{
    cut_character ch = {.end = at + 1};
    entity e;
    if (m->text[at] == '&' && !t->literal) {
        if (entity_read(m->text + at, t->to - at, m->xml, &e)) {
            ch.end = at + e.size;
            ch.code = e.code[0];
            add_character(&ch, e.code[0]);
            if (e.code[1])
                add_character(&ch, e.code[1]);
            return ch;
        }
        const size_t size = m->xml ? entity_named(m->text + at, t->to - at) : 0;
        if (size > 0)
            return (cut_character){.end = at + size, .opaque = true};
    }
    const size_t size = utf8_decode(m->text + at, t->to - at, &ch.code);
    ch.end = at + (size ? size : 1);
    ch.size = ch.end - at;
    memcpy(ch.bytes, m->text + at, ch.size);
    return ch;
}

static bool is_space_character(const cut_character *ch)
{
    return ch->size == 1 && markup_is_space(ch->bytes[0]);
}

/* White space becomes a space, or is left out behind one and at the beginning: then it belongs to the tag before it. */
static bool cut_space(cutting *c, size_t at, size_t end)
{
    markup_item *item = last_item(c);
    if (cut_size(c) == 0 || ends_in_space(c)) {
        if (item && item->end == at)
            item->end = end;
        else if (cut_size(c) > 0)
            c->now.tail_end = end;
        else
            c->now.head = end;
        return true;
    }
    const size_t size = cut_size(c);
    for (size_t i = c->m->item_count; i > c->now.first && c->m->items[i - 1].until == size; i--)
        c->m->items[i - 1].before_space = true;
    c->now.tail_begin = at;
    c->now.tail_end = end;
    return buffer_append(&c->m->plain, " ", 1);
}

static rapt_code cut_put_item(cutting *c, markup_item_kind kind, size_t begin, size_t end)
{
    const size_t at = cut_size(c);
    if (c->m->item_count == RAPT_MARKUP_TAGS)
        return rapt_fail(c->err, RAPT_ERR_VALUE, "the document has more than %d tags and references that stay", RAPT_MARKUP_TAGS);
    if (!ARRAY_RESERVE(&c->m->items, &c->m->item_capacity, c->m->item_count + 1))
        return cut_fail_memory(c);
    c->m->items[c->m->item_count++] = (markup_item){.begin = begin, .end = end, .at = at, .until = at, .partner = MARKUP_NONE,
                                                    .kind = kind, .after_space = ends_in_space(c)};
    return RAPT_OK;
}

static rapt_code cut_put_text(cutting *c, const markup_token *t)
{
    const bool section = t->from > t->begin; /* CDATA, whose marks go */
    cut_character ch;
    for (size_t at = t->from; at < t->to; at = ch.end) {
        const size_t begin = section && at == t->from ? t->begin : at;
        ch = read_character(c->m, t, at);
        const size_t end = section && ch.end == t->to ? t->end : ch.end;
        if (ch.opaque) {
            const rapt_code code = cut_put_item(c, ITEM_ATOM, begin, end);
            if (code)
                return code;
        } else if (is_space_character(&ch)) {
            if (!cut_space(c, begin, end))
                return cut_fail_memory(c);
        } else {
            c->has_letter = c->has_letter || utf8_is_letter(ch.code);
            if (!buffer_append(&c->m->plain, ch.bytes, ch.size))
                return cut_fail_memory(c);
        }
    }
    return RAPT_OK;
}

/* ---- elements that are not translated ---------------------------------------------------------------------------------- */

/* Appends the text of tokens first .. end - 1, with single spaces and none around it. False: out of memory. */
static bool verbatim_text(const cutting *c, size_t first, size_t end, buffer *to)
{
    bool ok = true, space = false;
    for (size_t i = first; i < end && ok && to->size <= RAPT_MARKUP_VERBATIM; i++) {
        const markup_token *t = &c->tokens->list[i];
        cut_character ch;
        for (size_t at = t->from; t->kind == MARKUP_TEXT && at < t->to && ok && to->size <= RAPT_MARKUP_VERBATIM; at = ch.end) {
            ch = read_character(c->m, t, at);
            const bool blank = is_space_character(&ch);
            if (!blank && !ch.opaque)
                ok = (!space || to->size == 0 || buffer_append(to, " ", 1)) && buffer_append(to, ch.bytes, ch.size);
            space = blank;
        }
    }
    return ok;
}

static bool has_hidden(const cutting *c, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (c->tokens->list[i].hidden)
            return true;
    return false;
}

/* The element of the start tag `at`, whose tokens end at `end`, with the bytes up to `to`. One without an end tag cannot be
 * moved: what comes behind it would be in it. */
static rapt_code cut_verbatim(cutting *c, size_t at, size_t end, size_t to)
{
    buffer text = {0};
    bool ok = !c->tokens->list[at].closed || has_hidden(c, at, end) || verbatim_text(c, at + 1, end, &text);
    const bool shown = ok && text.size > 0 && text.size <= RAPT_MARKUP_VERBATIM;
    rapt_code code = ok ? cut_put_item(c, shown ? ITEM_VERBATIM : ITEM_ATOM, c->tokens->list[at].begin, to) : RAPT_OK;
    if (!code && shown) {
        ok = buffer_append(&c->m->plain, text.data, text.size);
        last_item(c)->until = cut_size(c);
    }
    buffer_free(&text);
    return ok ? code : cut_fail_memory(c);
}

/* ---- segments -------------------------------------------------------------------------------------------------------------- */

static void cut_begin(cutting *c, size_t at, size_t token)
{
    c->now = (markup_segment){.begin = at, .head = at, .first = c->m->item_count};
    c->from = c->m->plain.size;
    c->token = token;
    c->depth = c->ends = 0;
    c->has_letter = false;
}

/* A start tag without its end tag here: what ends its element may be within the segment all the same. */
static void cut_loose_starts(cutting *c)
{
    size_t item = c->now.first;
    for (size_t i = c->token; i < c->next && item < c->m->item_count; i++) {
        const markup_token *t = &c->tokens->list[i];
        while (item < c->m->item_count && c->m->items[item].begin < t->begin)
            item++;
        if (item == c->m->item_count || c->m->items[item].begin != t->begin)
            continue;
        markup_item *m = &c->m->items[item];
        if (m->kind == ITEM_START && m->partner == MARKUP_NONE && !t->closed && t->partner < c->next)
            m->kind = ITEM_ATOM;
    }
}

/* Ends the segment before byte `at`, with the token c->next. A text without letters is none. */
static rapt_code cut_end(cutting *c, size_t at)
{
    rapt_markup *m = c->m;
    if (!c->has_letter) {
        m->item_count = c->now.first;
        m->plain.size = c->from;
        return RAPT_OK;
    }
    if (ends_in_space(c))
        m->plain.size--;
    else
        c->now.tail_begin = c->now.tail_end = at;
    cut_loose_starts(c);
    c->now.end = at;
    c->now.count = m->item_count - c->now.first;
    const size_t size = cut_size(c);
    c->now.line = c->from;
    c->now.line_size = size;
    for (size_t i = c->now.first; i < m->item_count; i++) {
        markup_item *item = &m->items[i];
        item->at = item->at < size ? item->at : size;
        item->until = item->until < size ? item->until : size;
    }
    if (!ARRAY_RESERVE(&m->segments, &m->capacity, m->count + 1) || !buffer_append(&m->plain, "", 1))
        return cut_fail_memory(c);
    m->segments[m->count++] = c->now;
    return RAPT_OK;
}

static rapt_code cut_tag(cutting *c, size_t at)
{
    markup_token *t = &c->tokens->list[at];
    const bool start = t->kind == MARKUP_START, end = t->kind == MARKUP_END && t->partner != MARKUP_NONE;
    rapt_code code = cut_put_item(c, start ? ITEM_START : end ? ITEM_END : ITEM_ATOM, t->begin, t->end);
    if (code)
        return code;
    const bool own = end && t->partner >= c->token;
    if ((start && ++c->depth > RAPT_MARKUP_DEPTH) || (end && !own && ++c->ends > RAPT_MARKUP_DEPTH))
        return rapt_fail(c->err, RAPT_ERR_VALUE, "byte %zu: more than %d tags are open within one sentence", t->begin,
                         RAPT_MARKUP_DEPTH);
    if (start)
        t->from = c->m->item_count - 1; /* its name is not needed any more */
    if (own) {
        const size_t partner = c->tokens->list[t->partner].from;
        c->m->items[partner].partner = c->m->item_count - 1;
        c->m->items[c->m->item_count - 1].partner = partner;
        c->depth--;
    }
    return RAPT_OK;
}

/* A tag at which sentences end is in no segment. */
static rapt_code cut_at(cutting *c, size_t begin, size_t end)
{
    rapt_code code = cut_end(c, begin);
    cut_begin(c, end, c->next + 1);
    return code;
}

static rapt_code cut_token(cutting *c)
{
    const size_t at = c->next;
    const markup_token *t = &c->tokens->list[at];
    if (t->kind == MARKUP_TEXT)
        return cut_put_text(c, t);
    if (!t->verbatim)
        return t->splits ? cut_at(c, t->begin, t->end) : cut_tag(c, at);
    const size_t last = t->closed ? t->partner : t->partner - 1; /* a start tag's partner comes behind it */
    const size_t to = c->tokens->list[last].end;
    if (!t->splits) {
        const rapt_code code = cut_verbatim(c, at, t->closed ? last : last + 1, to);
        c->next = last;
        return code;
    }
    const rapt_code code = cut_end(c, t->begin);
    c->next = last;
    cut_begin(c, to, last + 1);
    return code;
}

static rapt_code cut_lines(rapt_markup *m, rapt_error *err)
{
    if (!(m->lines = malloc((m->count + 1) * sizeof *m->lines)))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu lines", m->count);
    for (size_t i = 0; i < m->count; i++)
        m->lines[i] = (rapt_text){m->plain.data + m->segments[i].line, m->segments[i].line_size};
    return RAPT_OK;
}

rapt_code markup_cut(rapt_markup *m, markup_tokens *tokens, rapt_error *err)
{
    cutting c = {.m = m, .tokens = tokens, .err = err};
    rapt_code code = RAPT_OK;
    cut_begin(&c, tokens->count > 0 ? tokens->list[0].begin : 0, 0);
    for (; c.next < tokens->count && !code; c.next++)
        code = cut_token(&c);
    code = code ? code : cut_end(&c, m->size);
    return code ? code : cut_lines(m, err);
}
