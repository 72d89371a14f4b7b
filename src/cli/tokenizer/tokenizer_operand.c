/* cli/tokenizer/tokenizer_operand.c: the operands of its subcommands: a tokenizer and a file. */
#include "cli/tokenizer/cmd_tokenizer.h"

#include "base/disk.h"
#include "cli/cli.h"
#include "text/text_in.h"

#include <stdlib.h>
#include <string.h>

/* Pipes and devices are read. If a file can't be examined, reading says why. */
static bool can_map(const tokenizer_operands *o, const char *file)
{
    disk_entry info;
    return o->maps && strcmp(file, "-") != 0 && disk_is_file(file, &info);
}

static rapt_code work_on_file(const rapt_tokenizer *k, const tokenizer_operands *o, tokenizer_work *work, const void *arguments,
                              rapt_error *err)
{
    const char *file = o->file ? o->file : "-";
    char *text = NULL;
    file_map map = {NULL, 0};
    size_t size;
    rapt_error why = {0};
    bool maps = can_map(o, file);
    rapt_code code = maps ? text_in_map(&map, file, file, err) : text_in_read(file, CLI_MAX_TEXT, &text, &size, err);
    if (code)
        return code;
    code = work(k, arguments, maps ? &(tokenizer_text){map.data, map.size, &map} : &(tokenizer_text){text, size, NULL}, &why);
    file_map_close(&map);
    free(text);
    return code ? rapt_fail(err, code, "%s: %s", strcmp(file, "-") == 0 ? "standard input" : file, why.message) : RAPT_OK;
}

int tokenizer_run(const tokenizer_operands *o, tokenizer_work *work, const void *arguments)
{
    rapt_error err = {0};
    rapt_tokenizer *k = rapt_tokenizer_load(o->tokenizer, &err);
    rapt_code code = k ? work_on_file(k, o, work, arguments, &err) : err.code;
    rapt_tokenizer_free(k);
    return code ? cli_fail(&err) : 0;
}
