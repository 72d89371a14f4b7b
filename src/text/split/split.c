/* text/split/split.c: split patterns, and iteration over the pieces of a text. For byte-level BPE. split_known.c matches
 * well-known patterns; PCRE2 matches others, compiled to machine code if possible, over the kinds of a text's characters
 * (kinds.h): so the library sees bytes, and its own Unicode tables do not matter. */
#include "text/split/split.h"

#include "base/buffer.h"
#include "base/chars.h"
#include "text/split/classes.h"
#include "text/split/dialect.h"
#include "text/split/kinds.h"
#include "text/split/split_known.h"
#include "text/utf8.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A pattern that takes too many steps is refused, in one match or in a whole text. PCRE2 counts a step each time it goes back,
 * but not the characters that it then passes: a match costs at most its steps times the characters that it sees. So both limits
 * are small at first, and are raised, and the cost is counted, if they don't suffice. Six patterns over English, French and C
 * needed no more than 64 steps in 99.9 of 100 matches, and never saw 256 characters ahead. */
enum { FIRST_STEPS = 64, MAX_STEPS = 10000000, FIRST_WINDOW = 256, WIDER = 4 };
enum { FIRST_STACK = 64 << 10, MAX_STACK = 64 << 20 };
#define FREE_COST ((size_t)1000000000) /* steps times characters in a text, about a second's; and for each byte that is split: */
#define FREE_COST_A_BYTE 4096

struct split {
    char *pattern;
    const split_known *known; /* NULL: PCRE2 */
    uint8_t *classes;         /* [CLASSES_SIZE], for a known pattern */
    kinds *kinds;             /* for other patterns */
    pcre2_code *code;
    size_t behind; /* characters that a match looks back */
    _Atomic(split_walk *) *spare; /* an unused walk, or NULL: mapping the stack of a new one takes longer than a short text */
};

struct split_walk {
    const split *s;
    pcre2_match_data *match; /* these are NULL for known patterns */
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
    size_t cost, done; /* the cost of this text so far; bytes that are split */
    /* The kinds of some characters before the last match and some after it. */
    uint8_t *seen;
    size_t count, capacity, here; /* `here`: index of the character at byte `at`; the character at `end` is not seen yet */
    const char *text;
    size_t size, at, end, next; /* `next`: where the last piece ended */
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

/* A match must begin at the given place. This is an option of compiling, because machine code doesn't take it as an option of
 * matching. */
static rapt_code compile(const char *pattern, uint32_t options, pcre2_code **out, rapt_error *err)
{
    int number;
    PCRE2_SIZE at = 0;
    *out = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options | PCRE2_ANCHORED, &number, &at, NULL);
    return *out ? RAPT_OK : fail_compile(number, at, pattern, err);
}

/* The error of a pattern whose translation does not compile, with the byte in the original pattern. */
static rapt_code fail_written(const char *pattern, rapt_error *err)
{
    pcre2_code *written;
    rapt_code code = compile(pattern, PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C, &written, err);
    pcre2_code_free(written);
    return code ? code : rapt_fail(err, RAPT_ERR_FORMAT, "pattern: it means something else to PCRE2");
}

static rapt_code compile_written(split *s, rapt_error *err)
{
    char *translated;
    uint32_t behind = 0;
    rapt_code code = dialect_for_pcre2(s->pattern, &translated, &s->kinds, err);
    if (code)
        return code;
    code = compile(translated, 0, &s->code, NULL);
    free(translated);
    if (code)
        return code == RAPT_ERR_MEMORY ? rapt_fail(err, code, "out of memory for a pattern") : fail_written(s->pattern, err);
    pcre2_jit_compile(s->code, PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD); /* without machine code it is slower */
    pcre2_pattern_info(s->code, PCRE2_INFO_MAXLOOKBEHIND, &behind);
    s->behind = behind;
    return RAPT_OK;
}

static rapt_code split_prepare(split *s, const char *pattern, rapt_error *err)
{
    s->known = split_known_find(pattern);
    s->pattern = chars_copy(s->known ? s->known->portable : pattern);
    s->classes = s->known ? malloc(CLASSES_SIZE) : NULL;
    s->spare = calloc(1, sizeof *s->spare);
    if (!s->pattern || (s->known && !s->classes) || !s->spare)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a pattern");
    if (s->known)
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
    free(w->seen);
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
    kinds_free(s->kinds);
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
    if (!w->match || !w->context || !w->stack || !ARRAY_RESERVE(&w->seen, &w->capacity, (size_t)4 * FIRST_WINDOW))
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
    w->text = NULL;
}

void split_walk_free(split_walk *w)
{
    split_walk_delete(w && w->stack ? atomic_exchange(w->s->spare, w) : w);
}

/* Bytes of the character at `at`; 0: not valid. */
static inline size_t valid_at(const char *text, size_t size, size_t at)
{
    uint32_t code;
    return at < size && (unsigned char)text[at] < 0x80 ? 1 : utf8_decode(text + at, size - at, &code);
}

/* Bytes of the character at `at`, which must be valid. */
static inline size_t length_at(const char *text, size_t at)
{
    unsigned char lead = (unsigned char)text[at];
    return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

/* The end of the bytes at `from` that are not UTF-8. */
static size_t invalid_end(const char *text, size_t size, size_t from)
{
    do
        from++;
    while (from < size && valid_at(text, size, from) == 0);
    return from;
}

/* ---- what the library sees ---------------------------------------------------------------------------------- */

/* Where the character before `at` begins; one byte before if it is not a character. */
static size_t before_character(const char *text, size_t at)
{
    for (size_t back = 1; back <= 4 && back <= at; back++)
        if (valid_at(text, at, at - back) == back)
            return at - back;
    return at - 1;
}

/* Forgets characters that are too far back for a match. */
static void forget_seen(split_walk *w)
{
    size_t from = w->here > w->s->behind ? w->here - w->s->behind : 0;
    memmove(w->seen, w->seen + from, w->count - from);
    w->here -= from;
    w->count -= from;
}

/* Makes sure that `ahead` characters from byte `at` on are seen, or all that there are. */
static bool see_ahead(split_walk *w, size_t ahead)
{
    while (w->count - w->here < ahead && w->end < w->size) {
        size_t more = ahead - (w->count - w->here) + FIRST_WINDOW;
        if (w->count + more > w->capacity)
            forget_seen(w);
        if (!ARRAY_RESERVE(&w->seen, &w->capacity, w->count + more))
            return false;
        w->count += kinds_of_text(w->s->kinds, w->text, w->size, w->end, w->seen + w->count, more, &w->end);
    }
    return true;
}

/* Goes to byte `at`. Within the last match, or at its end, the seen characters stay; elsewhere they are read again, with the ones
 * that a match looks back at. */
static bool see_at(split_walk *w, const char *text, size_t size, size_t at)
{
    if (w->text != text || w->size != size || w->at > at || at > w->end) {
        size_t begin = at;
        for (size_t i = 0; i < w->s->behind && begin > 0; i++)
            begin = before_character(text, begin);
        w->text = text;
        w->size = size;
        w->at = w->end = begin;
        w->here = w->count = 0;
        if (!see_ahead(w, w->s->behind))
            return false;
    }
    for (; w->at < at; w->here++) {
        size_t length = valid_at(text, size, w->at);
        w->at += length ? length : 1;
    }
    return true;
}

static bool can_pay(split_walk *w, size_t steps, size_t characters)
{
    bool fits = characters <= SIZE_MAX / 2 / steps && w->cost <= SIZE_MAX / 2;
    w->cost += fits ? steps * characters : 0;
    return fits && w->cost <= FREE_COST + FREE_COST_A_BYTE * w->done;
}

/* Matches in a window that is wide enough: if a match has not seen the end of the window, text beyond it changes nothing. */
static int match_in_window(split_walk *w, uint32_t options)
{
    size_t window = FIRST_WINDOW;
    uint32_t steps = FIRST_STEPS;
    const size_t back = w->here < w->s->behind ? w->here : w->s->behind;
    for (;;) {
        if (!see_ahead(w, window))
            return PCRE2_ERROR_NOMEMORY;
        size_t ahead = w->count - w->here;
        bool whole = w->end == w->size && ahead <= window;
        ahead = ahead < window ? ahead : window;
        pcre2_set_match_limit(w->context, steps);
        int number = pcre2_match(w->s->code, w->seen + w->here - back, back + ahead, back,
                                 options | (whole ? 0 : PCRE2_PARTIAL_HARD), w->match, w->context);
        if (number == PCRE2_ERROR_PARTIAL)
            window *= WIDER;
        else if (number == PCRE2_ERROR_MATCHLIMIT && steps < MAX_STEPS)
            steps *= WIDER;
        else
            return number < 0 ? number : (int)back;
        if (!can_pay(w, steps, ahead))
            return PCRE2_ERROR_MATCHLIMIT;
    }
}

/* Matches only at byte `at`; *length: the characters of the match. An empty match is a cut, but not at the beginning of the
 * piece. */
static rapt_code match_at(split_walk *w, bool begins, bool *found, size_t *length, rapt_error *err)
{
    int number = match_in_window(w, begins ? PCRE2_NOTEMPTY_ATSTART : 0);
    *found = number >= 0;
    *length = *found ? pcre2_get_ovector_pointer(w->match)[1] - (size_t)number : 0;
    if (number >= 0 || number == PCRE2_ERROR_NOMATCH)
        return RAPT_OK;
    if (number == PCRE2_ERROR_NOMEMORY)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to split a text");
    return rapt_fail(err, RAPT_ERR_VALUE, "byte %zu: the pattern takes too many steps here", w->at + 1);
}

/* The match at `from`, or the text before the next match, which is a piece as well. It tries each character in turn, so that
 * bytes that are not UTF-8 end the search. */
static rapt_code next_match(split_walk *w, const char *text, size_t size, size_t from, size_t *end, bool *match,
                            rapt_error *err)
{
    bool found = false;
    size_t at = from, length, matched = 0;
    if (from != w->next) /* another text may stand in the same place */
        w->text = NULL;
    while ((length = valid_at(text, size, at)) > 0) {
        if (!see_at(w, text, size, at))
            return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to split a text");
        rapt_code code = match_at(w, at == from, &found, &matched, err);
        if (code)
            return code;
        if (found)
            break;
        at += length;
        w->done += length;
    }
    *match = found && at == from;
    *end = at;
    if (*match) {
        w->here += matched;
        for (; matched > 0; matched--)
            *end += length_at(text, *end);
        w->at = *end;
    }
    w->done += *end - at;
    w->next = *end;
    return RAPT_OK;
}

rapt_code split_next_match(split_walk *w, const char *text, size_t size, size_t from, size_t *end, bool *match, rapt_error *err)
{
    const split *s = w->s;
    const split_text t = {(const unsigned char *)text, size, s->classes};
    *match = false;
    if (valid_at(text, size, from) == 0) {
        *end = invalid_end(text, size, from);
        w->next = w->next == from ? *end : SIZE_MAX;
        return RAPT_OK;
    }
    if (!s->known)
        return next_match(w, text, size, from, end, match, err);
    *match = s->known->ends(&t, from, size, end, 1) == 1;
    return RAPT_OK;
}

rapt_code split_some(split_walk *w, const char *text, size_t size, size_t from, size_t limit, size_t *ends, size_t most,
                     size_t *count, rapt_error *err)
{
    const split_text t = {(const unsigned char *)text, size, w->s->classes};
    rapt_code code = RAPT_OK;
    *count = 0;
    while (from < limit && *count < most && code == RAPT_OK) {
        const size_t known = w->s->known ? w->s->known->ends(&t, from, limit, ends + *count, most - *count) : 0;
        if (known == 0)
            code = split_next(w, text, size, from, ends + *count, err);
        *count += known ? known : code == RAPT_OK;
        from = *count ? ends[*count - 1] : from;
    }
    return code;
}

rapt_code split_next(split_walk *w, const char *text, size_t size, size_t from, size_t *end, rapt_error *err)
{
    bool match;
    return split_next_match(w, text, size, from, end, &match, err);
}

bool split_may_be_empty(const split *s)
{
    uint32_t empty = 0;
    if (s->code)
        pcre2_pattern_info(s->code, PCRE2_INFO_MATCHEMPTY, &empty);
    return empty != 0;
}
