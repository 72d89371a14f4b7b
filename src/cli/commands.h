/* cli/commands.h: the commands of the program, and their tables of options: for main.c, completions and the manual. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/subcommands.h"

/* argv[0] is "rapt COMMAND"; returns the exit status. */
int cmd_train(int argc, char **argv);
int cmd_average(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_translate(int argc, char **argv);
int cmd_generate(int argc, char **argv);
int cmd_chat(int argc, char **argv);
int cmd_embed(int argc, char **argv);
int cmd_rerank(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_eval(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_score(int argc, char **argv);
int cmd_fetch(int argc, char **argv);
int cmd_data(int argc, char **argv);
int cmd_tokenizer(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_info(int argc, char **argv);

extern const cli_command train_command, average_command, convert_command, translate_command, generate_command, chat_command,
    embed_command, rerank_command, serve_command, eval_command, explain_command, score_command, fetch_command, info_command;
extern const cli_subcommands data_parts, tokenizer_parts, plot_parts;

typedef struct cli_entry {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *meaning;           /* in a line of `rapt --help` */
    const cli_command *command;    /* its options; NULL: it has subcommands */
    const cli_subcommands *parts;  /* NULL: it has none */
} cli_entry;

#define CLI_COMMANDS 17
extern const cli_entry cli_commands[CLI_COMMANDS];

#endif
