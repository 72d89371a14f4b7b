/* cli/tokenizer/cmd_tokenizer.c: `rapt tokenizer`: which part of it is wanted, and what they share. The parts are in
 * tokenizer_train.c, tokenizer_encode.c, tokenizer_decode.c and tokenizer_info.c. */
#include "cli/tokenizer/cmd_tokenizer.h"

#include "base/file.h"
#include "cli/cli.h"
#include "cli/parts.h"

#include <stdlib.h>
#include <string.h>

error_t tokenizer_operand(int key, char *text, struct argp_state *state, tokenizer_operands *o, unsigned files)
{
    if (key == ARGP_KEY_ARG) {
        if (state->arg_num > files)
            cli_usage_error(state, "takes one %s", files ? "file" : "tokenizer");
        *(state->arg_num ? &o->file : &o->tokenizer) = text;
        return 0;
    }
    if (key != ARGP_KEY_NO_ARGS)
        return ARGP_ERR_UNKNOWN;
    cli_usage_error(state, "wants a tokenizer");
    return 0;
}

static rapt_code work_on_file(const rapt_tokenizer *k, const char *file, tokenizer_work *work, const void *arguments,
                              rapt_error *err)
{
    char *text;
    size_t size;
    rapt_error why = {0};
    bool standard = !file || strcmp(file, "-") == 0;
    rapt_code code = file_read(standard ? "-" : file, CLI_MAX_TEXT, &text, &size, err);
    if (code)
        return code;
    code = work(k, arguments, text, size, &why);
    free(text);
    return code ? rapt_fail(err, code, "%s: %s", standard ? "standard input" : file, why.message) : RAPT_OK;
}

int tokenizer_run(const tokenizer_operands *o, tokenizer_work *work, const void *arguments)
{
    rapt_error err = {0};
    rapt_tokenizer *k = rapt_tokenizer_load(o->tokenizer, &err);
    rapt_code code = k ? work_on_file(k, o->file, work, arguments, &err) : err.code;
    rapt_tokenizer_free(k);
    return code ? cli_fail(&err) : 0;
}

static const cli_part PARTS[] = {
    {"train", tokenizer_train}, {"encode", tokenizer_encode}, {"decode", tokenizer_decode}, {"info", tokenizer_info}};

int cmd_tokenizer(int argc, char **argv)
{
    static const cli_parts parts = {
        PARTS, sizeof PARTS / sizeof *PARTS, "`train`, `encode`, `decode` or `info`", "train|encode|decode|info ...",
        "Make tokenizers, and use them: text to ids and back."
        "\vtrain TEXT... -o FILE learns a vocabulary; encode TOKENIZER [FILE] turns text into ids, decode turns ids into "
        "text, info tells what a tokenizer is. Each part has a --help of its own. A TOKENIZER is a tokenizer file of rapt, "
        "a Hugging Face tokenizer.json with byte-level BPE, a folder that holds a tokenizer.json, or a rank file of "
        "tiktoken with the name of its encoding: cl100k_base:PATH, o200k_base:PATH or r50k_base:PATH."};
    return cli_run_part(&parts, argc, argv);
}
