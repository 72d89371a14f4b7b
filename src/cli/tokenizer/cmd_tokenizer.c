/* cli/tokenizer/cmd_tokenizer.c: `rapt tokenizer`: its table of subcommands. Each is in its own file; tokenizer_operand.c has
 * what they share. */
#include "cli/tokenizer/cmd_tokenizer.h"

#include "cli/commands.h"

static const cli_subcommand PARTS[] = {{"train", tokenizer_train, &tokenizer_train_command},
                                       {"encode", tokenizer_encode, &tokenizer_encode_command},
                                       {"decode", tokenizer_decode, &tokenizer_decode_command},
                                       {"info", tokenizer_info, &tokenizer_info_command}};
const cli_subcommands tokenizer_parts = {
    PARTS, sizeof PARTS / sizeof *PARTS, "`train`, `encode`, `decode` or `info`", "train|encode|decode|info ...",
    "Train tokenizers, encode text to ids, decode ids to text.",
    "train TEXT... -o FILE learns a vocabulary; encode TOKENIZER [FILE] turns text into ids, decode turns ids into "
    "text, info describes a tokenizer. Each subcommand has a --help of its own. A TOKENIZER is a tokenizer file of rapt, "
    "a Hugging Face tokenizer.json, a SentencePiece model (.model, .spm), a GGUF file, a folder that holds one of "
    "these, or a rank file of tiktoken as it is published: r50k_base, p50k_base, cl100k_base or o200k_base. Before one that "
    "was changed stands the name of its encoding: cl100k_base:PATH."};

int cmd_tokenizer(int argc, char **argv)
{
    return subcommands_run(&tokenizer_parts, argc, argv);
}
