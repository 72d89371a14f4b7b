/* train/task/text_data.h: the text of a language model as tokens: from files, with the tokenizer that is loaded or learned from
 * them, or from the program. For task_language_model.c. */
#ifndef TRAIN_TASK_TEXT_DATA_H
#define TRAIN_TASK_TEXT_DATA_H

#include "data/tokens/token_file.h"
#include "train/run.h"

typedef struct text_data {
    char *text;        /* path of the text */
    char *text_at;     /* path at which it can be read before it has its name */
    char *tokens_path;
    bool several;      /* several files, which are joined */
    file_writer text_out, tokens_out; /* files of the model's folder that get their names when all input is checked */
    bool joins_text, makes_tokens;    /* those two are open */
    const rapt_token_file *tokens, *valid; /* valid: the program's, if it has its own tokens to validate with; else NULL */
    rapt_token_file *own;                  /* tokens of a text; NULL: the program's */
    uint64_t tokens_hash, valid_hash;      /* of their ids: text_data_hash */
    rapt_windows *train, *validation; /* of task_language_model.c; validation may be NULL */
    int32_t *zeros;                   /* ids of a batch that is only counted */
} text_data;

/* Whether the program brings tokens: then there is no text, and data.text is a name. */
bool text_data_is_given(const run *r);
/* Finds the text, or takes the program's tokens, before a model is loaded. */
rapt_code text_data_find(run *r, text_data *d, rapt_error *err);
/* Makes the tokens and, unless the run starts from a model, the tokenizer of r->model; or checks the program's tokens. On rank 0
 * only. */
rapt_code text_data_make(run *r, text_data *d, rapt_error *err);
/* The largest id of both sets. */
int32_t text_data_max_id(const text_data *d);
/* Gives the other ranks rank 0's tokenizer and tokens. */
rapt_code text_data_share(run *r, text_data *d, rapt_error *err);
/* Fills in the hashes, once the tokenizer is known. */
rapt_code text_data_hash(const run *r, text_data *d, rapt_error *err);
rapt_code text_data_files(const run *r, const char *names[TASK_MAX_FILES + 1], rapt_error *err); /* train_task.files */
/* Names the files of the folder. Called after all checks. */
rapt_code text_data_write(text_data *d, rapt_error *err);
void text_data_close(text_data *d);

/* ---- text_share.c: gives the other ranks the tokenizer and the tokens that rank 0 has made from a text, because they need not
 * see its folder. For task_language_model.c. */

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
