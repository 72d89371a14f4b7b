/* text/split/split.h: a text cut into pieces by a regular expression, as byte-level BPE requires: no token crosses a cut.
 * For the BPE encoder and its trainer; not a general regular expression. */
#ifndef TEXT_SPLIT_SPLIT_H
#define TEXT_SPLIT_SPLIT_H

#include "rapt/base.h"

/* The patterns of the public encodings, in a form that PCRE2, Oniguruma and Rust read alike. GPT-2's is r50k_base's. */
#define SPLIT_GPT2 "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
#define SPLIT_CL100K                                                                                                   \
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++\\z|"        \
    "\\s*[\\r\\n]|\\s+(?!\\S)|\\s"
#define SPLIT_O200K                                                                                                    \
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+"                         \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"                                                                                   \
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*"                         \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"                                                                                   \
    "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
/* Llama 3's and Qwen 2's patterns, which differ in the number of digits in a piece. */
#define SPLIT_OF_DIGITS(digits)                                                                                        \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}" digits "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"         \
    "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define SPLIT_LLAMA3 SPLIT_OF_DIGITS("{1,3}")
#define SPLIT_QWEN2 SPLIT_OF_DIGITS("")

typedef struct split split; /* a compiled pattern: const once made */

/* NULL with `err` set: a pattern that does not compile, or that `tokenizers` would read otherwise ("pattern, byte 17 of
 * 40: reason"); out of memory. */
split *split_new(const char *pattern, rapt_error *err);
void split_free(split *s);
/* The pattern that it was made from, or another of the same meaning that all programs read alike. */
const char *split_pattern(const split *s);

typedef struct split_walk split_walk; /* scratch memory of a match: one per thread; freed before its split */

/* Possibly one that was freed before: a split keeps the last. */
split_walk *split_walk_new(const split *s, rapt_error *err);
/* Forgets what matches have cost so far: the next text, or the next part of one, begins. */
void split_walk_begin(split_walk *w);
void split_walk_free(split_walk *w);

/* The piece of text[0 .. size) that begins at `from` < size: its end goes to *end, from < *end <= size. Text that the pattern
 * doesn't match is also a piece, and so is a run of bytes that are not UTF-8. Nothing beyond `size` is read. RAPT_ERR_VALUE if
 * the pattern needs too many steps or too much memory, here or in the whole text so far. */
rapt_code split_next(split_walk *w, const char *text, size_t size, size_t from, size_t *end, rapt_error *err);
/* split_next several times: the ends of the pieces from `from` on that begin before `limit` go to ends[0 .. *count), at most
 * `most` of them. At least one, if `from` < `limit`. */
rapt_code split_some(split_walk *w, const char *text, size_t size, size_t from, size_t limit, size_t *ends, size_t most,
                     size_t *count, rapt_error *err);
/* Like split_next; *match: whether the piece is a match of the pattern. */
rapt_code split_next_match(split_walk *w, const char *text, size_t size, size_t from, size_t *end, bool *match, rapt_error *err);
/* Whether the pattern may match an empty text, which is a cut for split_next. */
bool split_may_be_empty(const split *s);

#endif
