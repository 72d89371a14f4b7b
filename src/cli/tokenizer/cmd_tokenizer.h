/* cli/tokenizer/cmd_tokenizer.h: the subcommands of `rapt tokenizer`, and what the ones that load a tokenizer share. */
#ifndef CLI_TOKENIZER_CMD_TOKENIZER_H
#define CLI_TOKENIZER_CMD_TOKENIZER_H

#include "rapt/text.h"

#include "base/file.h"
#include "cli/options/options.h"

/* argv[0] is "rapt tokenizer"; each returns the exit status. */
int tokenizer_train(int argc, char **argv);
int tokenizer_encode(int argc, char **argv);
int tokenizer_decode(int argc, char **argv);
int tokenizer_info(int argc, char **argv);
extern const cli_command tokenizer_train_command, tokenizer_encode_command, tokenizer_decode_command, tokenizer_info_command;

typedef struct tokenizer_operands {
    const char *tokenizer, *file; /* file NULL: standard input */
    bool maps;                    /* the file is mapped if possible, because it may be larger than memory */
} tokenizer_operands;

/* Members of the cli_command of a subcommand that takes a tokenizer, or a tokenizer and a file. */
#define TOKENIZER_OPERAND .least = 1, .missing = "TOKENIZER", .operand = {AT(operands.tokenizer), AT(operands.file)}

typedef struct tokenizer_text {
    const char *data; /* a NUL follows it, unless it is mapped */
    size_t size;
    const file_map *map; /* NULL: it is in memory */
} tokenizer_text;

/* The work of a subcommand on a text: it prints, and its errors name a place in the text. */
typedef rapt_code tokenizer_work(const rapt_tokenizer *k, const void *arguments, const tokenizer_text *text,
                                 rapt_error *err);
/* Loads the tokenizer, reads the text, calls `work`, and prints an error with the name of the file. Returns the exit status. */
int tokenizer_run(const tokenizer_operands *o, tokenizer_work *work, const void *arguments);

#endif
