/* cli/info_json.c: what all parts of `rapt info` share: printing JSON, and words for values. */
#include "cli/cmd_info.h"

#include "base/rows.h"
#include "cli/cli.h"
#include "cli/put_json.h"

int info_print_json(json_t *o)
{
    rapt_error err = {0};
    return put_json(o, JSON_INDENT(2), &err) ? cli_fail(&err) : 0;
}

const char *info_tokenizer_kind(const rapt_tokenizer *k)
{
    static const char *const names[] = {[RAPT_TOKENIZER_WORDS] = "words", [RAPT_TOKENIZER_CHARACTERS] = "characters",
                                        [RAPT_TOKENIZER_BYTE_BPE] = "byte_bpe",
                                        [RAPT_TOKENIZER_SENTENCEPIECE] = "sentencepiece",
                                        [RAPT_TOKENIZER_PIPELINE] = "pipeline"};
    ROWS_FIT(names, RAPT_TOKENIZER_KINDS, 0);
    return names[rapt_tokenizer_kind_of(k)];
}
