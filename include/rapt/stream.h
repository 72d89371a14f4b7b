/* rapt/stream.h: a long text as token ids, and windows of it, for language models.
 *
 * A text is tokenized once into a token file, which is mapped afterwards, so neither has to fit in memory. Training
 * takes windows at random places, evaluation takes them one after the other; targets are the tokens one position later.
 * What a batch holds depends on (seed, step) alone, so a run can be stopped and resumed anywhere:
 *
 *    rapt_tokenizer *tokenizer = rapt_tokenizer_load("cl100k_base:cl100k_base.tiktoken", &err);
 *    rapt_token_file *f = rapt_token_file_ensure(tokenizer, "book.txt", "book.tokens", &err);
 *    rapt_token_range split = rapt_token_range_training(f, 0.9);
 *    rapt_windows *w = rapt_windows_new(f, &split, 16, 4, 1, &err);
 *    for (uint64_t step = 0; w && step < steps; step++) {
 *        const rapt_window_batch *b = rapt_windows_random(w, step);
 *        loss = rapt_lm_loss(t, model, b->inputs, b->labels, ...);
 */
#ifndef RAPT_STREAM_H
#define RAPT_STREAM_H

#include "rapt/tensor.h"
#include "rapt/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- token files ------------------------------------------------------------------------------------------ */

/* A token file is a header of 64 bytes, then `count` ids; all numbers are little-endian. The ids have 2 bytes for a
 * vocabulary of at most 65,536 entries, else 4. In version 2 special tokens that were written out in the text are tokens; in
 * version 1 they may be text. Python reads it as numpy.memmap(path, "<u2" or "<u4", offset=64).
 *
 *    byte  0  "RAPTTOK1"               24  u64 bytes of the text              (XXH3: the 64-bit hash of xxHash,
 *          8  u16 version, 1 or 2      32  u64 XXH3 of the text                without a seed)
 *         10  u16 bytes per id         40  u64 rapt_tokenizer_hash
 *         12  u32 header checksum:     48  u64 XXH3 of the ids as they lie in the file
 *             low half of its XXH3     56  u32 vocabulary: rapt_tokenizer_size
 *             with 0 in this place     60  u32 largest id
 *         16  u64 count
 *
 * Read only: threads can share it. */
typedef struct rapt_token_file rapt_token_file;

/* Tokenizes the text at `text_path` into a token file. Special tokens that are written out in the text, such as <|endoftext|>
 * between documents, become those tokens; nothing is put before or after the text. The text is mapped, so it has to be a regular
 * file, and must not be cut off meanwhile; memory does not grow with it, but with its longest piece or line. A text in gzip is
 * expanded in TMPDIR first. A text that the tokenizer normalizes needs room for a copy beside `out_path` meanwhile. All CPUs that
 * this process may use are used, or RAPT_THREADS threads, 1 to 256; the file does not depend on how many. The result appears
 * whole or not at all. Fails where the text is not UTF-8 ("TEXT: byte 17: not UTF-8 (line 2)"), is empty or has no tokens, where
 * the tokenizer fails, and where `out_path` names something that is no token file, which is left alone. */
RAPT_API rapt_code rapt_token_file_make(const rapt_tokenizer *tokenizer, const char *text_path, const char *out_path,
                                        rapt_error *err);

/* Maps a token file. Header, length, checksums and the largest id are checked, for which all of it is read. NULL with `err`
 * set: "PATH: " and what is wrong with it. */
RAPT_API rapt_token_file *rapt_token_file_open(const char *path, rapt_error *err);

/* Opens `out_path` if it holds this text (by size and XXH3) by this tokenizer (by hash), unharmed; else makes it
 * first. NULL with `err` set as for the two. */
RAPT_API rapt_token_file *rapt_token_file_ensure(const rapt_tokenizer *tokenizer, const char *text_path, const char *out_path,
                                                 rapt_error *err);

/* A token file in memory, from ids (copied) below `vocab`; its text and tokenizer are unknown: 0. NULL with `err` set: no
 * ids, an id outside the vocabulary, out of memory. */
RAPT_API rapt_token_file *rapt_token_file_from_ids(const int32_t *ids, size_t count, size_t vocab, rapt_error *err);

/* Unmaps the file and frees `f`; NULL is fine. */
RAPT_API void rapt_token_file_close(rapt_token_file *f);

/* The number of tokens, at least 1. */
RAPT_API size_t rapt_token_file_count(const rapt_token_file *f);
/* The vocabulary size of the tokenizer, rapt_tokenizer_size. */
RAPT_API size_t rapt_token_file_vocab(const rapt_token_file *f);
/* The largest id that occurs. */
RAPT_API int32_t rapt_token_file_max_id(const rapt_token_file *f);
/* The size in bytes of the text that was tokenized; 0: unknown. */
RAPT_API size_t rapt_token_file_text_bytes(const rapt_token_file *f);
/* The fingerprint of the tokenizer, rapt_tokenizer_hash; 0: unknown. */
RAPT_API uint64_t rapt_token_file_tokenizer_hash(const rapt_token_file *f);

/* Copies ids first .. first + count - 1, which must exist. */
RAPT_API void rapt_token_file_ids(const rapt_token_file *f, size_t first, size_t count, int32_t *ids);

/* The bytes of tokens begin .. end - 1 by the tokenizer, for bits per byte: for byte-level and character tokenizers
 * those of the text itself; for pipelines those of the decoded text; for words without what lay between them. */
RAPT_API size_t rapt_token_file_bytes(const rapt_token_file *f, const rapt_tokenizer *tokenizer, size_t begin, size_t end);

/* ---- splits ----------------------------------------------------------------------------------------------- */

/* Tokens begin .. end - 1. */
typedef struct rapt_token_range {
    size_t begin, end;
    const char *name; /* in messages: "the training split has 12 tokens"; NULL: "the range" */
} rapt_token_range;

/* The training split: the first floor(count * fraction) tokens. `fraction` is held within 0 and 1. */
RAPT_API rapt_token_range rapt_token_range_training(const rapt_token_file *f, double fraction);
/* The validation split: the tokens after the first floor(count * fraction). `fraction` is held within 0 and 1. */
RAPT_API rapt_token_range rapt_token_range_validation(const rapt_token_file *f, double fraction);
/* All tokens. */
RAPT_API rapt_token_range rapt_token_range_all(const rapt_token_file *f);

/* ---- windows ---------------------------------------------------------------------------------------------- */

/* Windows of a range of tokens, with the memory of one batch. One thread at a time; several may share a token file, which has to
 * outlive them. */
typedef struct rapt_windows rapt_windows;

/* Row b holds valid_lens[b] tokens from token starts[b] of the file on, and zeros after them; label i of a row is the
 * token after input i. inputs.lens is NULL: with a causal mask nothing that counts depends on padding. */
typedef struct rapt_window_batch {
    rapt_tokens inputs, labels; /* [rows, context] */
    const int32_t *valid_lens;  /* [rows], for rapt_loss_options */
    const uint32_t *examples;   /* [rows], for rapt_pass.examples: step (or index) * batch + row, modulo 2^32 */
    const size_t *starts;       /* [rows] */
    size_t tokens;              /* labels that count: the sum of valid_lens */
} rapt_window_batch;

/* `batch` windows at once, of `context` tokens each. NULL with `err` set: fewer tokens in the range than context + 1
 * ("the training split has 12 tokens; a window of 16 needs 17"), a range beyond the file, a context or batch of 0, out of
 * memory. */
RAPT_API rapt_windows *rapt_windows_new(const rapt_token_file *f, const rapt_token_range *range, size_t context, size_t batch,
                                        uint64_t seed, rapt_error *err);
/* Frees the windows and their batch; the token file stays. NULL is fine. */
RAPT_API void rapt_windows_free(rapt_windows *w);

/* The batch of a training step: `batch` whole windows. Their starts are independent and uniform over begin .. end -
 * context - 1, so the last label possible is the range's last token (to 2^-53: rng_below). It depends on the seed, the
 * step and the range, on nothing that was asked before. Valid until the next call for `w`. */
RAPT_API const rapt_window_batch *rapt_windows_random(rapt_windows *w, uint64_t step);

/* For evaluation: windows one after the other, from the range's beginning. Batches 0 .. rapt_windows_batches - 1 have each
 * token of the range but its first as a label exactly once; the last window may be shorter and the last batch may have
 * fewer rows. NULL for another index. Valid until the next call for `w`. */
RAPT_API const rapt_window_batch *rapt_windows_at(rapt_windows *w, size_t index);
/* The number of batches of an evaluation. */
RAPT_API size_t rapt_windows_batches(const rapt_windows *w);

#ifdef __cplusplus
}
#endif

#endif
