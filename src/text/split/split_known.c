/* text/split/split_known.c: the split patterns of GPT-2, GPT-4, GPT-4o, Llama 3 and Qwen, matched by hand. For split.c; PCRE2
 * matches any other pattern. Each step names its branch of the pattern. The tests compare all of it with PCRE2, and with tiktoken
 * if that is installed. */
#include "text/split/split_known.h"

#include "text/eight_bytes.h"
#include "text/split/classes.h"
#include "text/split/split.h"
#include "text/utf8.h"

#include <string.h>

enum {
    SYMBOL = CLASS_OTHER | CLASS_MARK,                     /* [^\s\p{L}\p{N}] */
    NOT_FIRST = CLASS_NEWLINE | CLASS_LETTER | CLASS_NUMBER, /* the complement of [^\r\n\p{L}\p{N}] */
    HEAD = CLASS_UPPER | CLASS_CASELESS | CLASS_MARK,      /* [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}] */
    TAIL = CLASS_LOWER | CLASS_CASELESS | CLASS_MARK       /* [\p{Ll}\p{Lm}\p{Lo}\p{M}] */
};

/* Most wide characters of European languages have two bytes. */
static unsigned wide_class(const split_text *t, size_t at, size_t *length)
{
    uint32_t code;
    const unsigned char lead = t->text[at];
    if (lead >= 0xC2 && lead < 0xE0 && at + 1 < t->size && (t->text[at + 1] & 0xC0) == 0x80) {
        *length = 2;
        return t->classes[(lead & 0x1Fu) << 6 | (t->text[at + 1] & 0x3Fu)];
    }
    *length = utf8_decode((const char *)t->text + at, t->size - at, &code);
    return *length == 0 ? 0 : code < CLASSES_SIZE ? t->classes[code] : classes_beyond(code);
}

/* The class of the character at `at` and its bytes; 0 and 0 at the end and at an invalid character. */
static inline unsigned class_at(const split_text *t, size_t at, size_t *length)
{
    *length = 0;
    if (at >= t->size)
        return 0;
    if (t->text[at] >= 0x80)
        return wide_class(t, at, length);
    *length = 1;
    return t->classes[t->text[at]];
}

/* The end of the run of characters of these classes. */
static inline size_t run_end(const split_text *t, size_t at, unsigned classes)
{
    size_t length;
    while (class_at(t, at, &length) & classes)
        at += length;
    return at;
}

/* run_end for CLASS_LETTER: ASCII letters eight at a time. */
static inline size_t letters_end(const split_text *t, size_t at)
{
    for (size_t more = 8; more == 8; at += more)
        more = eight_before(eight_no_letters(eight_bytes(t->text, t->size, at)));
    return at < t->size && t->text[at] >= 0x80 ? run_end(t, at, CLASS_LETTER) : at;
}

/* Bytes of the contraction at `at`, an apostrophe: '(?:[sdmt]|ll|ve|re), with (?i) if `fold`; 0: none. The long s is the only
 * letter beyond ASCII that folds to one of these. */
static size_t contraction(const split_text *t, size_t at, bool fold)
{
    unsigned char letters[2] = {0, 0};
    for (size_t i = 0; i < 2 && at + 1 + i < t->size; i++)
        letters[i] = t->text[at + 1 + i] | (fold ? 0x20 : 0);
    if (letters[0] && strchr("sdmt", letters[0]))
        return 2;
    if ((letters[0] == 'l' && letters[1] == 'l') || (strchr("vr", letters[0]) && letters[0] && letters[1] == 'e'))
        return 3;
    return fold && at + 2 < t->size && t->text[at + 1] == 0xC5 && t->text[at + 2] == 0xBF ? 3 : 0;
}

/* White space at `at`, if no other branch of the pattern matches. In this order, if they apply:
 *   \s++\z         all that is left
 *   \s*[\r\n]+     up to the last line end (whose + finds nothing more, \s* has gone as far as it can)
 *   \s+(?!\S)      all but the last one, which goes with what follows
 *   \s+ */
static size_t space_end(const split_text *t, size_t at, bool trailing, bool line_ends)
{
    size_t end = at, last = at, after_line = 0, length;
    unsigned kind;
    for (; (kind = class_at(t, end, &length)) & CLASS_SPACE; end += length) {
        last = end;
        if (kind & CLASS_NEWLINE)
            after_line = end + length;
    }
    if (trailing && end == t->size)
        return end;
    if (line_ends && after_line)
        return after_line;
    return kind == 0 || last == at ? end : last;
}

/* SPLIT_GPT2 */
static size_t next_gpt2(const split_text *t, size_t at)
{
    size_t length;
    if (t->text[at] == '\'' && (length = contraction(t, at, false)) > 0)
        return at + length;
    size_t from = at + (t->text[at] == ' '); /* the " ?" of three branches */
    unsigned kind = class_at(t, from, &length);
    unsigned run = kind & CLASS_LETTER ? CLASS_LETTER : kind & CLASS_NUMBER ? CLASS_NUMBER : kind & SYMBOL ? SYMBOL : 0;
    if (run == CLASS_LETTER)
        return letters_end(t, from + length);
    return run ? run_end(t, from + length, run) : space_end(t, at, false, false);
}

/* \p{N}{1,max}; the first digit is at `at`. */
static size_t number_end(const split_text *t, size_t at, int max)
{
    size_t length;
    for (; max > 0 && class_at(t, at, &length) & CLASS_NUMBER; max--)
        at += length;
    return at;
}

/* " ?[^\s\p{L}\p{N}]+" at `at`; 0: no match. */
static size_t symbols_end(const split_text *t, size_t at)
{
    size_t length, from = at + (t->text[at] == ' ');
    return class_at(t, from, &length) & SYMBOL ? run_end(t, from + length, SYMBOL) : 0;
}

/* SPLIT_CL100K and similar patterns: `digits` is the number of digits in a piece; `trailing`: white space at the end is one
 * piece. */
static inline size_t next_gpt4(const split_text *t, size_t at, int digits, bool trailing)
{
    size_t length, next, end;
    if (t->text[at] == '\'' && (length = contraction(t, at, true)) > 0)
        return at + length;
    unsigned kind = class_at(t, at, &length);
    if (kind & CLASS_LETTER)
        return letters_end(t, at + length);
    if (kind & CLASS_NUMBER)
        return number_end(t, at, digits);
    if (!(kind & NOT_FIRST) && class_at(t, at + length, &next) & CLASS_LETTER)
        return letters_end(t, at + length + next);
    if ((end = symbols_end(t, at)) > 0)
        return run_end(t, end, CLASS_NEWLINE);
    return space_end(t, at, trailing, true);
}

static size_t next_cl100k(const split_text *t, size_t at)
{
    return next_gpt4(t, at, 3, true);
}

static size_t next_llama3(const split_text *t, size_t at)
{
    return next_gpt4(t, at, 3, false);
}

static size_t next_qwen2(const split_text *t, size_t at)
{
    return next_gpt4(t, at, 1, false);
}

/* [HEAD]*[TAIL]+, or if that fails, [HEAD]+[TAIL]*, from `from` on; `from` itself: no match. If no lower-case letter follows the
 * run of HEAD, the first form gives characters back until one also belongs to TAIL, which is its end. */
static size_t word_end(const split_text *t, size_t from)
{
    size_t at = from, length, given_back = 0;
    unsigned kind;
    for (; (kind = class_at(t, at, &length)) & HEAD; at += length)
        if (kind & TAIL)
            given_back = at + length;
    if (kind & TAIL)
        return run_end(t, at + length, TAIL);
    return given_back ? given_back : at;
}

/* Whether the first form of a word matches at `from`: it has a character of TAIL after any of HEAD. */
static bool has_tail(const split_text *t, size_t from)
{
    size_t length;
    return class_at(t, run_end(t, from, CLASS_UPPER), &length) & TAIL;
}

/* [^\r\n\p{L}\p{N}]?WORD in both forms; `at` itself: no match. A mark can stand for the optional first character or
 * for the word: the first form is tried with it and without before the second form. */
static size_t word_with_first(const split_text *t, size_t at, unsigned kind, size_t length)
{
    if (kind & NOT_FIRST)
        return word_end(t, at);
    if (kind & CLASS_MARK && !has_tail(t, at + length))
        return at + length;
    size_t end = word_end(t, at + length);
    return end > at + length ? end : at;
}

/* SPLIT_O200K */
static size_t next_o200k(const split_text *t, size_t at)
{
    size_t length, end;
    unsigned kind = class_at(t, at, &length);
    if (kind & CLASS_NUMBER)
        return number_end(t, at, 3);
    if ((end = word_with_first(t, at, kind, length)) > at)
        return end + (end < t->size && t->text[end] == '\'' ? contraction(t, end, true) : 0);
    if ((end = symbols_end(t, at)) == 0)
        return space_end(t, at, false, true);
    while (end < t->size && strchr("\r\n/", t->text[end]) && t->text[end])
        end++;
    return end;
}

/* Most pieces: ASCII letters, behind one more byte if `leads`; 0: another piece. */
static inline size_t plain_word_end(const split_text *t, size_t at, bool leads)
{
    const uint64_t bytes = eight_bytes(t->text, t->size, at), other = eight_no_letters(bytes) & ~((uint64_t)leads << 7);
    const size_t length = eight_before(other);
    if (length <= leads)
        return 0;
    return other == 0 || bytes & other & -other ? letters_end(t, at + length) : at + length;
}

static inline bool leads_gpt2(const split_text *t, unsigned char c)
{
    (void)t;
    return c == ' ';
}

static inline bool leads_gpt4(const split_text *t, unsigned char c)
{
    return c < 0x80 && c != '\'' && !(t->classes[c] & NOT_FIRST);
}

/* One piece after the other: `next` is the end of the one at a place with valid UTF-8, `leads` whether a byte, no letter, belongs
 * to the letters behind it; NULL: letters are not all alike. Both are inlined. */
static inline size_t ends_by(size_t (*next)(const split_text *t, size_t at), bool (*leads)(const split_text *t, unsigned char c),
                             const split_text *t, size_t at, size_t limit, size_t *ends, size_t most)
{
    size_t count = 0, length;
    for (; at < limit && count < most; at = ends[count++]) {
        ends[count] = leads ? plain_word_end(t, at, leads(t, t->text[at])) : 0;
        if (ends[count] == 0 && !class_at(t, at, &length))
            break;
        if (ends[count] == 0)
            ends[count] = next(t, at);
    }
    return count;
}

#define ENDS(name, leads)                                                                              \
    static size_t name##_ends(const split_text *t, size_t at, size_t limit, size_t *ends, size_t most) \
    {                                                                                                  \
        return ends_by(next_##name, leads, t, at, limit, ends, most);                                  \
    }
ENDS(gpt2, leads_gpt2)
ENDS(cl100k, leads_gpt4)
ENDS(o200k, NULL)
ENDS(llama3, leads_gpt4)
ENDS(qwen2, leads_gpt4)

static const split_known KNOWN[] = {
    {SPLIT_GPT2, SPLIT_GPT2, gpt2_ends},
    {SPLIT_CL100K, SPLIT_CL100K, cl100k_ends},
    {SPLIT_O200K, SPLIT_O200K, o200k_ends},
    {SPLIT_LLAMA3, SPLIT_LLAMA3, llama3_ends},
    {SPLIT_QWEN2, SPLIT_QWEN2, qwen2_ends},
    /* as tiktoken writes the first two */
    {"'(?:[sdmt]|ll|ve|re)| ?\\p{L}++| ?\\p{N}++| ?[^\\s\\p{L}\\p{N}]++|\\s++$|\\s+(?!\\S)|\\s", SPLIT_GPT2, gpt2_ends},
    {"'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$|"
     "\\s*[\\r\\n]|\\s+(?!\\S)|\\s",
     SPLIT_CL100K, cl100k_ends},
};

const split_known *split_known_find(const char *pattern)
{
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
        if (strcmp(KNOWN[i].pattern, pattern) == 0)
            return &KNOWN[i];
    return NULL;
}
