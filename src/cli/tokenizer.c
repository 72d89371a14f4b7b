/* cli/tokenizer.c: `rapt tokenizer`: which part of it is wanted. The parts are in tokenizer_train.c, tokenizer_encode.c,
 * tokenizer_decode.c and tokenizer_info.c. */
#include "cli/tokenizer.h"

#include "cli/cli.h"

#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} PARTS[] = {{"train", tokenizer_train}, {"encode", tokenizer_encode}, {"decode", tokenizer_decode}, {"info", tokenizer_info}};

static error_t parse(int key, char *text, struct argp_state *state)
{
    (void)text;
    if (key != ARGP_KEY_ARG && key != ARGP_KEY_NO_ARGS)
        return ARGP_ERR_UNKNOWN;
    argp_error(state, "wants `train`, `encode`, `decode` or `info`");
    return 0;
}

static const struct argp ARGP = {
    .parser = parse, .args_doc = "train|encode|decode|info ...",
    .doc = "Make tokenizers, and use them: text to ids and back."
           "\vtrain TEXT... -o FILE learns a vocabulary; encode TOKENIZER [FILE] turns text into ids, decode turns ids into "
           "text, info tells what a tokenizer is. Each part has a --help of its own. A TOKENIZER is a tokenizer file of rapt, "
           "a Hugging Face tokenizer.json with byte-level BPE, a folder that holds a tokenizer.json, or a rank file of "
           "tiktoken with the name of its encoding: cl100k_base:PATH, o200k_base:PATH or r50k_base:PATH."};

int cmd_tokenizer(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof PARTS / sizeof *PARTS; i++)
        if (strcmp(argv[1], PARTS[i].name) == 0) {
            argv[1] = argv[0];
            return PARTS[i].run(argc - 1, argv + 1);
        }
    argp_parse(&ARGP, argc, argv, 0, NULL, NULL);
    return 2;
}
