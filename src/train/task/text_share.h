/* train/task/text_share.h: gives the other ranks the tokenizer and the tokens that rank 0 has made from a text, because they need
 * not see its folder. For task_language_model.c. */
#ifndef TRAIN_TASK_TEXT_SHARE_H
#define TRAIN_TASK_TEXT_SHARE_H

#include "data/tokens/token_file.h"
#include "train/run.h"

/* Gives all ranks rank 0's tokenizer; the others make it from its text. */
rapt_code text_share_tokenizer(run *r, rapt_tokenizer **k, rapt_error *err);

typedef struct text_tokens {
    const char *text;       /* path of the text if every rank has it, to compare it; NULL: only rank 0 has it */
    const char *name;       /* name of the token file, for messages */
    const file_writer *out; /* on rank 0: the file while it has no name, else NULL */
    rapt_token_file *file;  /* on rank 0 the token file; the others get theirs here, and close it */
} text_tokens;

/* Gives all ranks rank 0's tokens: from the same file if a rank sees it, else from a copy in TMPDIR (/tmp) that vanishes with the
 * process. RAPT_ERR_VALUE: a rank has another text. */
rapt_code text_share_tokens(run *r, text_tokens *t, rapt_error *err);

#endif
