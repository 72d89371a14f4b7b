/* decode/markup/markup_match.c: which tags belong together, where sentences end, and what is not translated. */
#include "decode/markup/markup_core.h"

#include "decode/markup/markup_names.h"
#include "text/bpe/token_list.h"

#include <stdlib.h>
#include <string.h>

/* What a request says about a name, beside the bits of markup_names.h. */
enum { NAME_IGNORED = 1 << 16, NAME_SPLIT = 1 << 17, NAME_KEPT = 1 << 18 };

typedef struct matching {
    const rapt_markup *m;
    markup_tokens *tokens;
    const rapt_markup_options *o;
    token_list names;
    unsigned *bits;      /* [names.size] */
    size_t *open;        /* [names.size] how many elements of the name are open */
    size_t bits_capacity, open_capacity;
    size_t *stack;       /* [depth] start tags of open elements */
    size_t depth, stack_capacity;
    bool mixed;          /* the document has text outside of elements */
    rapt_error *err;
} matching;

static rapt_code match_fail_memory(const matching *s)
{
    return rapt_fail(s->err, RAPT_ERR_MEMORY, "out of memory for a document of %zu bytes", s->m->size);
}

/* ---- names ---------------------------------------------------------------------------------------------------------------- */

/* The number of a name; of HTML in lower case. -1: out of memory. */
static int32_t match_name(matching *s, const char *name, size_t size)
{
    enum { LONGEST = 256 };
    char lower[LONGEST];
    size = size < LONGEST ? size : LONGEST;
    for (size_t i = 0; i < size; i++)
        lower[i] = (char)(name[i] | (!s->m->xml && name[i] >= 'A' && name[i] <= 'Z' ? 0x20 : 0));
    const size_t before = s->names.size;
    const int32_t id = token_list_add(&s->names, lower, size);
    if (id < 0 || s->names.size == before)
        return id;
    if (!ARRAY_RESERVE(&s->bits, &s->bits_capacity, s->names.size) || !ARRAY_RESERVE(&s->open, &s->open_capacity, s->names.size))
        return -1;
    s->bits[id] = s->m->xml ? 0 : markup_name_bits(lower, size);
    s->open[id] = 0;
    return id;
}

static rapt_code match_list(matching *s, const char *list, unsigned bit, const char *what)
{
    size_t count = 0;
    for (const char *at = list ? list : ""; *(at += strspn(at, ", \t\r\n"));) {
        const size_t size = strcspn(at, ", \t\r\n");
        if (memchr(at, '>', size) || memchr(at, '/', size))
            return rapt_fail(s->err, RAPT_ERR_VALUE, "%s: no tag is named \"%.*s\"", what, size < 60 ? (int)size : 60, at);
        const int32_t id = match_name(s, at, size);
        if (id < 0)
            return match_fail_memory(s);
        if (++count > RAPT_MARKUP_NAMES)
            return rapt_fail(s->err, RAPT_ERR_VALUE, "%s: more than %d names", what, RAPT_MARKUP_NAMES);
        s->bits[id] |= bit;
        at += size;
    }
    return RAPT_OK;
}

/* ---- elements ------------------------------------------------------------------------------------------------------------- */

/* Ends the innermost open element at a token, with that as its end tag or without one. */
static void match_pop(matching *s, size_t at, bool closed)
{
    markup_token *start = &s->tokens->list[s->stack[--s->depth]];
    s->open[start->name]--;
    start->partner = at;
    start->closed = closed;
}

static bool match_push(matching *s, size_t at)
{
    if (!ARRAY_RESERVE(&s->stack, &s->stack_capacity, s->depth + 1))
        return false;
    s->stack[s->depth++] = at;
    s->open[s->tokens->list[at].name]++;
    return true;
}

static void match_end(matching *s, size_t at)
{
    markup_token *t = &s->tokens->list[at];
    if (s->open[t->name] == 0)
        return;
    while (s->tokens->list[s->stack[s->depth - 1]].name != t->name)
        match_pop(s, at, false);
    t->partner = s->stack[s->depth - 1];
    match_pop(s, at, true);
}

/* Ends elements of HTML whose end tag may be left out. */
static void match_implied(matching *s, size_t at)
{
    const int32_t name = s->tokens->list[at].name;
    const char *next = token_list_at(&s->names, name, NULL);
    while (!s->m->xml && s->depth > 0 &&
           markup_name_ends(token_list_at(&s->names, s->tokens->list[s->stack[s->depth - 1]].name, NULL), next, s->bits[name]))
        match_pop(s, at, false);
}

static bool has_no_text(const rapt_markup *m, const markup_token *t)
{
    for (size_t i = t->from; i < t->to; i++)
        if (!markup_is_space(m->text[i]))
            return false;
    return true;
}

static bool match_token(matching *s, size_t at)
{
    markup_token *t = &s->tokens->list[at];
    const bool tag = t->kind == MARKUP_START || t->kind == MARKUP_END || t->kind == MARKUP_EMPTY;
    if (tag && (t->name = match_name(s, s->m->text + t->from, t->to - t->from)) < 0)
        return false;
    if (t->kind == MARKUP_START || t->kind == MARKUP_EMPTY)
        match_implied(s, at);
    if (t->kind == MARKUP_END)
        match_end(s, at);
    t->parent = s->depth > 0 ? s->stack[s->depth - 1] : MARKUP_NONE;
    if (t->kind == MARKUP_TEXT && !has_no_text(s->m, t))
        *(s->depth > 0 ? &s->tokens->list[t->parent].mixed : &s->mixed) = true;
    return t->kind != MARKUP_START || match_push(s, at);
}

/* ---- what they are to a translation ------------------------------------------------------------------------------------ */

static bool match_splits(const matching *s, const markup_token *t)
{
    const unsigned bits = s->bits[t->name];
    if (bits & (NAME_SPLIT | NAME_KEPT))
        return bits & NAME_SPLIT;
    if (!s->o->outline)
        return false;
    if (!s->m->xml)
        return bits & NAME_SPLITS;
    if (t->kind == MARKUP_END)
        return t->partner != MARKUP_NONE && s->tokens->list[t->partner].splits;
    return t->parent == MARKUP_NONE ? !s->mixed : !s->tokens->list[t->parent].mixed;
}

static void match_judge(matching *s)
{
    for (size_t i = 0; i < s->tokens->count; i++) {
        markup_token *t = &s->tokens->list[i];
        if (t->name < 0)
            continue;
        t->splits = match_splits(s, t);
        t->verbatim = t->kind == MARKUP_START && (t->untranslated || s->bits[t->name] & (NAME_IGNORED | NAME_VERBATIM));
        t->hidden = t->verbatim && s->bits[t->name] & NAME_HIDDEN;
    }
}

static rapt_code match_all(matching *s)
{
    static const char mark[] = "\xEF\xBB\xBF"; /* of the order of bytes */
    const bool marked = s->m->size >= sizeof mark - 1 && memcmp(s->m->text, mark, sizeof mark - 1) == 0;
    markup_scan scan = {.text = s->m->text, .size = s->m->size, .xml = s->m->xml, .at = marked ? sizeof mark - 1 : 0};
    markup_token next;
    const int32_t svg = match_name(s, "svg", 3), math = match_name(s, "math", 4);
    if (svg < 0 || math < 0)
        return match_fail_memory(s);
    while (markup_scan_next(&scan, &next)) {
        if (s->tokens->count == RAPT_MARKUP_TAGS)
            return rapt_fail(s->err, RAPT_ERR_VALUE, "the document has more than %d tags and texts", RAPT_MARKUP_TAGS);
        if (!ARRAY_RESERVE(&s->tokens->list, &s->tokens->capacity, s->tokens->count + 1))
            return match_fail_memory(s);
        s->tokens->list[s->tokens->count++] = next;
        if (!match_token(s, s->tokens->count - 1))
            return match_fail_memory(s);
        scan.foreign = !s->m->xml && (s->open[svg] > 0 || s->open[math] > 0);
    }
    while (s->depth > 0)
        match_pop(s, s->tokens->count, false);
    match_judge(s);
    return RAPT_OK;
}

rapt_code markup_match(const rapt_markup *m, const rapt_markup_options *o, markup_tokens *tokens, rapt_error *err)
{
    matching s = {.m = m, .tokens = tokens, .o = o, .err = err};
    rapt_code code = match_list(&s, o->ignore, NAME_IGNORED, "ignore");
    code = code ? code : match_list(&s, o->splitting, NAME_SPLIT, "splitting");
    code = code ? code : match_list(&s, o->non_splitting, NAME_KEPT, "non_splitting");
    code = code ? code : match_all(&s);
    token_list_free(&s.names);
    free(s.bits);
    free(s.open);
    free(s.stack);
    return code;
}
