/* cli/commands.c: the table of commands, in the order in which help and manual list them. */
#include "cli/commands.h"

const cli_entry cli_commands[CLI_COMMANDS] = {
    {"train", cmd_train, "train or fine-tune a model from a recipe of hyperparameters", .command = &train_command},
    {"average", cmd_average, "average the last checkpoints of a training run", .command = &average_command},
    {"convert", cmd_convert, "write a model for other programs, such as transformers", .command = &convert_command},
    {"translate", cmd_translate, "translate text line by line: greedy or beam search", .command = &translate_command},
    {"generate", cmd_generate, "generate text from a prompt with a language model", .command = &generate_command},
    {"chat", cmd_chat, "converse with a language model by the chat template of its folder", .command = &chat_command},
    {"embed", cmd_embed, "write a vector for each line of a text, with an encoder such as BERT", .command = &embed_command},
    {"rerank", cmd_rerank, "rank texts by how well they answer a query, with a cross-encoder", .command = &rerank_command},
    {"serve", cmd_serve, "serve models to other programs over HTTP: OpenAI's, LibreTranslate's and DeepL's interfaces",
     .command = &serve_command},
    {"eval", cmd_eval, "evaluate a model: loss, perplexity, BLEU and chrF", .command = &eval_command},
    {"explain", cmd_explain, "print all intermediate activations of a forward pass", .command = &explain_command},
    {"score", cmd_score, "BLEU and chrF of a translated text, as sacreBLEU computes them", .command = &score_command},
    {"fetch", cmd_fetch, "download a public data set or vocabulary, and check it", .command = &fetch_command},
    {"data", cmd_data, "check sentence pairs or conversations before training: lengths, defects", .parts = &data_parts},
    {"tokenizer", cmd_tokenizer, "train tokenizers, encode text to ids, decode ids", .parts = &tokenizer_parts},
    {"plot", cmd_plot, "plot attention weights, positions, embeddings, training curves or tables", .parts = &plot_parts},
    {"info", cmd_info, "this machine, a model's sizes, or what training from a recipe takes", .command = &info_command},
};
