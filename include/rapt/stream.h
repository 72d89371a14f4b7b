/* rapt/stream.h: a long text as token ids, and windows of it, for language models.
 *
 * A text is tokenized once into a token file, which is mapped afterwards, so neither has to fit in memory. Training takes windows
 * at random places, evaluation takes consecutive windows; targets are the tokens one position later. A batch depends on (seed,
 * step) alone, so a training run can be stopped and resumed anywhere:
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

/* A token file is a header of 64 bytes, then `count` ids; all numbers are little-endian. The ids have 2 bytes for a vocabulary of
 * at most 65,536 entries, else 4. In version 2, texts of special tokens have become those tokens; in version 1 they may be text.
 * Python reads it as numpy.memmap(path, "<u2" or "<u4", offset=64).
 *
 *    byte  0  "RAPTTOK1"               24  u64 bytes of the text              (XXH3: the 64-bit hash of xxHash,
 *          8  u16 version, 1 or 2      32  u64 XXH3 of the text                without a seed)
 *         10  u16 bytes per id         40  u64 rapt_tokenizer_hash
 *         12  u32 header checksum:     48  u64 XXH3 of the ids as they lie in the file
 *             low half of its XXH3     56  u32 vocabulary: rapt_tokenizer_size
 *             with 0 in this place     60  u32 largest id
 *         16  u64 count
 *
 * A token file is only read: threads can share it. */
typedef struct rapt_token_file rapt_token_file;

/* Tokenizes the text at `text_path` into a token file, which appears whole or not at all. Special tokens that are written out in
 * the text, such as <|endoftext|> between documents, become those tokens; nothing is put before or after the text. The text is
 * mapped, so it must be a regular file and must not be truncated meanwhile. Memory grows not with the text but with its longest
 * pre-token or line. A text in gzip is expanded in TMPDIR first; a text that the tokenizer normalizes needs disk space for a copy
 * beside `out_path` meanwhile. Uses RAPT_THREADS threads, 1 to 256, or else all CPUs that this process may use; the file does not
 * depend on the number. Fails if the text is not UTF-8 ("TEXT: byte 17: not UTF-8 (line 2)"), is empty or has no tokens, if the
 * tokenizer fails, or if `out_path` names a file that is not a token file, which is left alone. */
RAPT_API rapt_code rapt_token_file_make(const rapt_tokenizer *tokenizer, const char *text_path, const char *out_path,
                                        rapt_error *err);

/* Maps a token file. Checks header, length, checksums and the largest id, and reads the whole file to do so. NULL with `err` set:
 * "PATH: " and what is wrong with the file. */
RAPT_API rapt_token_file *rapt_token_file_open(const char *path, rapt_error *err);

/* Opens `out_path` if it is intact and was made from this text (same size and XXH3) with this tokenizer (same hash); otherwise
 * makes it first. Fails as rapt_token_file_make and rapt_token_file_open do. */
RAPT_API rapt_token_file *rapt_token_file_ensure(const rapt_tokenizer *tokenizer, const char *text_path, const char *out_path,
                                                 rapt_error *err);

/* A token file in memory, made from ids (copied) below `vocab`. Its text size and tokenizer hash are 0, unknown. NULL with `err`
 * set: no ids, an id outside the vocabulary, out of memory. */
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

/* Copies ids first .. first + count - 1. The range is not checked. */
RAPT_API void rapt_token_file_ids(const rapt_token_file *f, size_t first, size_t count, int32_t *ids);

/* The number of bytes that tokens begin .. end - 1 stand for, to compute bits per byte. Byte-level and character tokenizers: the
 * bytes of the text; pipelines: the bytes of the decoded text; words: the bytes of the words, without what lay between them. */
RAPT_API size_t rapt_token_file_bytes(const rapt_token_file *f, const rapt_tokenizer *tokenizer, size_t begin, size_t end);

/* ---- splits ----------------------------------------------------------------------------------------------- */

/* Tokens begin .. end - 1. */
typedef struct rapt_token_range {
    size_t begin, end;
    const char *name; /* for messages: "the training split has 12 tokens"; NULL: "the range" */
} rapt_token_range;

/* The training split: the first floor(count * fraction) tokens. `fraction` is clamped to 0 .. 1. */
RAPT_API rapt_token_range rapt_token_range_training(const rapt_token_file *f, double fraction);
/* The validation split: the tokens after the first floor(count * fraction). `fraction` is clamped to 0 .. 1. */
RAPT_API rapt_token_range rapt_token_range_validation(const rapt_token_file *f, double fraction);
/* All tokens. */
RAPT_API rapt_token_range rapt_token_range_all(const rapt_token_file *f);

/* ---- windows ---------------------------------------------------------------------------------------------- */

/* Windows of a range of tokens, with the memory of one batch. One thread at a time may use it. Several may share a token file,
 * which must outlive them. */
typedef struct rapt_windows rapt_windows;

/* Row b holds valid_lens[b] tokens, from token starts[b] of the file on, followed by zeros. Label i of a row is the token after
 * input i. inputs.lens is NULL: with a causal mask, no position that counts depends on padding. */
typedef struct rapt_window_batch {
    rapt_tokens inputs, labels; /* [rows, context] */
    const int32_t *valid_lens;  /* [rows], for rapt_loss_options */
    const uint32_t *examples;   /* [rows], for rapt_pass.examples: step (or index) * batch + row, modulo 2^32 */
    const size_t *starts;       /* [rows] */
    size_t tokens;              /* labels that count: the sum of valid_lens */
} rapt_window_batch;

/* Makes batches of `batch` windows of `context` tokens. NULL with `err` set: fewer tokens in the range than context + 1 ("the
 * training split has 12 tokens; a window of 16 needs 17"), a range beyond the file, a context or batch of 0, out of memory. */
RAPT_API rapt_windows *rapt_windows_new(const rapt_token_file *f, const rapt_token_range *range, size_t context, size_t batch,
                                        uint64_t seed, rapt_error *err);
/* Frees the windows and their batch, not the token file. NULL is fine. */
RAPT_API void rapt_windows_free(rapt_windows *w);

/* The batch of a training step: `batch` whole windows. Their starts are independent and uniform (to 2^-53) over begin .. end -
 * context - 1, so the last possible label is the range's last token. The batch depends on the seed, the step and the range, not
 * on earlier calls. Valid until the next call for `w`. */
RAPT_API const rapt_window_batch *rapt_windows_random(rapt_windows *w, uint64_t step);

/* A batch for evaluation: consecutive windows from the range's beginning. In batches 0 .. rapt_windows_batches - 1, each token of
 * the range except the first is a label exactly once; the last window may be shorter, and the last batch may have fewer rows.
 * NULL for any other index. Valid until the next call for `w`. */
RAPT_API const rapt_window_batch *rapt_windows_at(rapt_windows *w, size_t index);
/* The number of batches that an evaluation of the whole range has. */
RAPT_API size_t rapt_windows_batches(const rapt_windows *w);

#ifdef __cplusplus
}
#endif

#endif
