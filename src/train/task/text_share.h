/* train/task/text_share.h: what rank 0 has made of a text, for the other ranks, which need not see its folder: the tokenizer and
 * the tokens. For task_language_model.c. */
#ifndef TRAIN_TASK_TEXT_SHARE_H
#define TRAIN_TASK_TEXT_SHARE_H

#include "data/tokens/token_file.h"
#include "train/run.h"

/* Rank 0's tokenizer; the others make one of its text. */
rapt_code text_share_tokenizer(run *r, rapt_tokenizer **k, rapt_error *err);

typedef struct text_tokens {
    const char *text;       /* path of the text, where every rank has it: it is compared; NULL: only rank 0 has it */
    const char *name;       /* of the token file, for messages */
    const file_writer *out; /* of rank 0: where it still is without a name, else NULL */
    rapt_token_file *file;  /* of rank 0; the others get theirs here, and close it */
} text_tokens;

/* Rank 0's tokens: of the same file where a rank sees it, else of a copy in TMPDIR (/tmp) that ends with the process.
 * RAPT_ERR_VALUE where a rank's text is another one. */
rapt_code text_share_tokens(run *r, text_tokens *t, rapt_error *err);

#endif
