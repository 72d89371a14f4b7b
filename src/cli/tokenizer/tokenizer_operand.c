/* cli/tokenizer/tokenizer_operand.c: the tokenizer and the file that its subcommands are given; of cmd_tokenizer.h. */
#include "cli/tokenizer/cmd_tokenizer.h"

#include "base/file.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

error_t tokenizer_operand(int key, char *text, struct argp_state *state, tokenizer_operands *o, unsigned files)
{
    if (key == ARGP_KEY_ARG) {
        cli_operand(o->tokenizer && files ? &o->file : &o->tokenizer, text, files ? "one file" : "one tokenizer", state);
        return 0;
    }
    if (key != ARGP_KEY_NO_ARGS)
        return ARGP_ERR_UNKNOWN;
    cli_usage_error(state, "missing operand: TOKENIZER");
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
