/* text/split/split.c: split patterns, and iteration over the pieces of a text. For byte-level BPE. Well-known patterns are
 * matched in split_known.c; others by PCRE2, compiled to machine code where it can. */
#define _GNU_SOURCE /* strdup */
#include "text/split/split.h"

#include "text/split/classes.h"
#include "text/split/dialect.h"
#include "text/split/split_known.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* What takes too many steps is refused, rather than waited for: in one match, and in all of a text together. PCRE2 counts a
 * step each time that it goes back, but not the characters that it passes then: what a match costs is at most its steps times the
 * bytes that it sees. So both are small at first, and widened, and accounted for, where they don't suffice. Six patterns over
 * English, French and C needed no more than 64 steps in 99.9 of 100 matches, and never saw 256 bytes ahead. */
enum { FIRST_STEPS = 64, MAX_STEPS = 10000000, FIRST_WINDOW = 256, WIDER = 4 };
enum { FIRST_STACK = 64 << 10, MAX_STACK = 64 << 20 };
#define FREE_COST ((size_t)1000000000) /* steps times bytes in a text, about a second's; and for each byte that is split: */
#define FREE_COST_A_BYTE 4096

struct split {
    char *pattern;
    const split_known *known; /* NULL: PCRE2 */
    uint8_t *classes;         /* [CLASSES_SIZE] */
    pcre2_code *code;
    _Atomic(split_walk *) *spare; /* a walk that nobody uses, or NULL: to map the stack of one takes longer than a short text */
};

struct split_walk {
    const split *s;
    pcre2_match_data *match; /* these are NULL for known patterns */
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
    size_t cost, done; /* of this text; bytes that are split */
};

/* ---- compiling ---------------------------------------------------------------------------------------------- */

/* Byte `at` is within the pattern as PCRE2 sees it. */
static rapt_code fail_compile(int number, size_t at, const char *pattern, rapt_error *err)
{
    char reason[200];
    if (number == PCRE2_ERROR_NOMEMORY)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a pattern");
    pcre2_get_error_message(number, (PCRE2_UCHAR *)reason, sizeof reason);
    return rapt_fail(err, RAPT_ERR_FORMAT, "pattern, byte %zu of %zu: %s", at + (at < strlen(pattern)), strlen(pattern),
                     reason);
}

/* Lines end in LF for ., ^ and $, whatever the library was built for. A match begins where it is asked for; said here,
 * because machine code doesn't take it as an option of matching. */
static rapt_code compile(const char *pattern, pcre2_code **out, rapt_error *err)
{
    uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C |
                       PCRE2_ANCHORED;
    int number = PCRE2_ERROR_NOMEMORY;
    PCRE2_SIZE at = 0;
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    *out = NULL;
    if (context) {
        pcre2_set_newline(context, PCRE2_NEWLINE_LF);
        *out = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options, &number, &at, context);
    }
    pcre2_compile_context_free(context);
    return *out ? RAPT_OK : fail_compile(number, at, pattern, err);
}

/* The pattern is compiled as it was written first, so that an error points to a byte of it. */
static rapt_code compile_written(split *s, rapt_error *err)
{
    char *translated;
    rapt_code code = compile(s->pattern, &s->code, err);
    pcre2_code_free(s->code);
    s->code = NULL;
    code = code ? code : dialect_for_pcre2(s->pattern, &translated, err);
    if (code)
        return code;
    code = compile(translated, &s->code, err);
    free(translated);
    if (code == RAPT_OK) /* where this machine has none, matching is slower */
        pcre2_jit_compile(s->code, PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD);
    return code;
}

static rapt_code split_prepare(split *s, const char *pattern, rapt_error *err)
{
    s->known = split_known_find(pattern);
    s->pattern = strdup(s->known ? s->known->portable : pattern);
    s->classes = malloc(CLASSES_SIZE);
    s->spare = calloc(1, sizeof *s->spare);
    if (!s->pattern || !s->classes || !s->spare)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a pattern");
    classes_fill(s->classes);
    return s->known ? RAPT_OK : compile_written(s, err);
}

split *split_new(const char *pattern, rapt_error *err)
{
    split *s = calloc(1, sizeof *s);
    if (!s) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a pattern");
        return NULL;
    }
    if (split_prepare(s, pattern, err) == RAPT_OK)
        return s;
    split_free(s);
    return NULL;
}

static void split_walk_delete(split_walk *w)
{
    if (!w)
        return;
    pcre2_match_data_free(w->match);
    pcre2_match_context_free(w->context);
    pcre2_jit_stack_free(w->stack);
    free(w);
}

void split_free(split *s)
{
    if (!s)
        return;
    if (s->spare)
        split_walk_delete(atomic_load(s->spare));
    free(s->spare);
    free(s->pattern);
    free(s->classes);
    pcre2_code_free(s->code);
    free(s);
}

const char *split_pattern(const split *s)
{
    return s->pattern;
}

/* ---- walking ------------------------------------------------------------------------------------------------ */

static bool split_reserve(split_walk *w)
{
    w->match = pcre2_match_data_create(1, NULL);
    w->context = pcre2_match_context_create(NULL);
    w->stack = pcre2_jit_stack_create(FIRST_STACK, MAX_STACK, NULL);
    if (!w->match || !w->context || !w->stack)
        return false;
    pcre2_jit_stack_assign(w->context, NULL, w->stack);
    return true;
}

split_walk *split_walk_new(const split *s, rapt_error *err)
{
    split_walk *w = atomic_exchange(s->spare, NULL);
    if (w) {
        split_walk_begin(w);
        return w;
    }
    w = calloc(1, sizeof *w);
    if (w)
        w->s = s;
    if (w && (s->known || split_reserve(w)))
        return w;
    split_walk_delete(w);
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to split a text");
    return NULL;
}

void split_walk_begin(split_walk *w)
{
    w->cost = w->done = 0;
}

void split_walk_free(split_walk *w)
{
    split_walk_delete(w && w->stack ? atomic_exchange(w->s->spare, w) : w);
}

/* The end of the bytes at `from` that are not UTF-8. */
static size_t invalid_end(const split_text *t, size_t from)
{
    do
        from++;
    while (from < t->size && split_known_valid(t, from) == 0);
    return from;
}

/* The end of a window of the text, between two characters. */
static size_t window_end(const split_text *t, size_t at, size_t window)
{
    size_t end = window < t->size - at ? at + window : t->size;
    for (int i = 0; i < 3 && end < t->size && (t->text[end] & 0xC0) == 0x80; i++)
        end--;
    return end;
}

static bool can_pay(split_walk *w, size_t steps, size_t bytes)
{
    bool fits = bytes <= SIZE_MAX / 2 / steps && w->cost <= SIZE_MAX / 2;
    w->cost += fits ? steps * bytes : 0;
    return fits && w->cost <= FREE_COST + FREE_COST_A_BYTE * w->done;
}

/* Matches in a window that is wide enough: as long as none has seen its end, what is behind it changes nothing. */
static int match_in_window(split_walk *w, const split_text *t, size_t at, uint32_t options)
{
    size_t window = FIRST_WINDOW, end = window_end(t, at, window);
    uint32_t steps = FIRST_STEPS;
    for (;;) {
        pcre2_set_match_limit(w->context, steps);
        int number = pcre2_match(w->s->code, t->text, end, at, options | (end < t->size ? PCRE2_PARTIAL_HARD : 0), w->match,
                                 w->context);
        if (number == PCRE2_ERROR_PARTIAL)
            end = window_end(t, at, window *= WIDER);
        else if (number == PCRE2_ERROR_MATCHLIMIT && steps < MAX_STEPS)
            steps *= WIDER;
        else
            return number;
        if (!can_pay(w, steps, end - at))
            return PCRE2_ERROR_MATCHLIMIT;
    }
}

/* Matches at `at` and nowhere else. A match of no text is a cut, but not where the piece begins. */
static rapt_code match_at(split_walk *w, const split_text *t, size_t at, bool begins, bool *found, rapt_error *err)
{
    int number = match_in_window(w, t, at, begins ? PCRE2_NOTEMPTY_ATSTART : 0);
    *found = number >= 0;
    if (number >= 0 || number == PCRE2_ERROR_NOMATCH)
        return RAPT_OK;
    if (number == PCRE2_ERROR_NOMEMORY)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to split a text");
    return rapt_fail(err, RAPT_ERR_VALUE, "byte %zu: the pattern takes too many steps here", at + 1);
}

/* The match at `from`, or the text before the next one, which is a piece as well. Looked for from character to
 * character, so that what is not UTF-8 ends the search. */
static rapt_code next_match(split_walk *w, const split_text *t, size_t from, size_t *end, bool *match, rapt_error *err)
{
    bool found = false;
    size_t at = from, length;
    while ((length = split_known_valid(t, at)) > 0) {
        rapt_code code = match_at(w, t, at, at == from, &found, err);
        if (code)
            return code;
        if (found)
            break;
        at += length;
        w->done += length;
    }
    *match = found && at == from;
    *end = *match ? pcre2_get_ovector_pointer(w->match)[1] : at;
    w->done += *end - at;
    return RAPT_OK;
}

rapt_code split_next(split_walk *w, const char *text, size_t size, size_t from, size_t *end, rapt_error *err)
{
    bool match;
    const split *s = w->s;
    split_text t = {(const unsigned char *)text, size, s->classes};
    if ((unsigned char)text[from] >= 0x80 && split_known_valid(&t, from) == 0)
        *end = invalid_end(&t, from);
    else if (s->known)
        *end = s->known->next(&t, from);
    else
        return next_match(w, &t, from, end, &match, err);
    return RAPT_OK;
}

rapt_code split_next_match(split_walk *w, const char *text, size_t size, size_t from, size_t *end, bool *match, rapt_error *err)
{
    const split_text t = {(const unsigned char *)text, size, w->s->classes};
    bool valid = split_known_valid(&t, from) > 0;
    *match = valid && w->s->known;
    return valid && !w->s->known ? next_match(w, &t, from, end, match, err) : split_next(w, text, size, from, end, err);
}

bool split_may_be_empty(const split *s)
{
    uint32_t empty = 0;
    if (s->code)
        pcre2_pattern_info(s->code, PCRE2_INFO_MATCHEMPTY, &empty);
    return empty != 0;
}
