/* data/tokens/token_file.h: the struct of rapt_token_file, for token_make.c, which compares it with a text, and for training,
 * which makes a draft before everything is checked. */
#ifndef DATA_TOKENS_TOKEN_FILE_H
#define DATA_TOKENS_TOKEN_FILE_H

#include "rapt/stream.h"

#include "base/file.h"
#include "base/stop.h"
#include "data/tokens/token_format.h"

struct rapt_token_file {
    token_header header;
    const char *ids; /* in the map or in `own` */
    file_map map;
    char *own;  /* ids that came from memory, or NULL */
    char *path; /* path of the file, or NULL */
};

/* A file that may not have its name yet: messages say `name`, its bytes are read at `at`. */
typedef struct token_place {
    const char *name, *at;
} token_place;

/* rapt_token_file_open of a file at such a place. */
rapt_token_file *token_file_open(token_place place, rapt_error *err);

#define TOKEN_MAPPED ((size_t)8 << 20) /* bytes of a file that may stay mapped */
/* Gives back the memory of tokens that were read, in files larger than that: in the end training on a large text reads all. */
void token_file_forget(const rapt_token_file *f, size_t first, size_t count);

/* The checksum of the ids as they would lie in the file of a tokenizer of `vocab` tokens: the same for the same ids, whatever
 * vocabulary they were given with. An id that such a file could not hold has its 4 bytes. RAPT_ERR_MEMORY. */
rapt_code token_file_hash(const rapt_token_file *f, size_t vocab, uint64_t *hash, rapt_error *err);

typedef struct token_options {
    bool ordinary; /* special tokens that are written out in the text are text like any other */
    int threads;   /* argument of pool_new */
    stop_check stop;
} token_options;

/* rapt_token_file_ensure without a change at out_path yet: if *made, the result is in `out`, and the caller ends it with
 * file_writer_finish or file_writer_discard. On failure nothing is left to end; RAPT_ERR_INTERRUPTED: cancelled. `out_path` is
 * borrowed until then. */
rapt_token_file *token_file_draft(const rapt_tokenizer *k, token_place text, const char *out_path, token_options options,
                                  file_writer *out, bool *made, rapt_error *err);

#endif
