/* text/encode_run.h: long texts to ids on all threads, with the ids of rapt_tokenizer_encode_to in the same order, in memory
 * that does not grow with the text. For token files. Nothing is put before or after the text. */
#ifndef TEXT_ENCODE_RUN_H
#define TEXT_ENCODE_RUN_H

#include "base/stretches.h"
#include "text/tokenizer.h"

#define ENCODE_CHUNK ((size_t)256 << 10) /* bytes of text that a thread encodes at a time; any number gives the same ids */

struct encode_run {
    const char *text;
    size_t size, chunk;
    bool specials; /* texts of special tokens become special tokens; false: only tokens of a tokenizer.json that are always
                      found */
    pool *pool;
    const char *beside; /* a temporary file beside this path holds the normalized text; NULL: memory holds it */
    stop_check stop;
    rapt_ids_fn *sink; /* called on any thread, by one at a time */
    /* Called when bytes begin .. end - 1 have been read; in order, but a text that is normalized can be read twice. May be NULL.
     * Any thread may call it, one at a time. */
    void (*passed)(void *context, size_t begin, size_t end);
    void *context; /* of both */
};

/* Fails as rapt_tokenizer_encode_to does; RAPT_ERR_INTERRUPTED if it was interrupted. If a pattern takes many steps, each chunk
 * may take as many as a text. */
rapt_code encode_run_all(const rapt_tokenizer *k, const encode_run *r, rapt_error *err);

/* Encodes the text as a whole, on this thread: for texts of one chunk, and for tokenizers whose texts cannot be cut. */
rapt_code encode_run_whole(const rapt_tokenizer *k, const encode_run *r, rapt_error *err);

/* For kinds of tokenizers that can tell from the bytes alone where a text can be cut: `end_of` finds such a place from `from` on,
 * or the text's end; `encode` encodes the text between two of them. */
typedef struct encode_cuts {
    size_t (*end_of)(const char *text, size_t size, size_t from);
    rapt_code (*encode)(const rapt_tokenizer *k, const char *text, size_t size, size_t begin, size_t end, bool specials,
                        rapt_ids_fn *sink, void *context, rapt_error *err);
} encode_cuts;

rapt_code encode_run_cut(const rapt_tokenizer *k, const encode_run *r, const encode_cuts *cuts, rapt_error *err);

/* A sink that appends ids to a part's buffer `out`, and the function that hands them on. */
rapt_code encode_run_keep(void *part, const int32_t *ids, size_t count, rapt_error *err);
rapt_code encode_run_hand_on(const encode_run *r, const part *p, size_t first, rapt_error *err);

#endif
