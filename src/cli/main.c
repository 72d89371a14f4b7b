/* cli/main.c: the program `rapt`: a table of commands. Each has its own file. */
#include "cli/cli.h"
#include "cli/cut_files.h"
#include "cli/group/launch.h"

#include "base/quote.h"
#include "base/suggest.h"

#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *meaning;
} command;

static const command COMMANDS[] = {
    {"train", cmd_train, "train or fine-tune a model from a recipe of hyperparameters"},
    {"average", cmd_average, "average the last checkpoints of a training run"},
    {"convert", cmd_convert, "write a model for other programs, such as transformers"},
    {"translate", cmd_translate, "translate text line by line: greedy or beam search"},
    {"generate", cmd_generate, "generate text from a prompt with a language model"},
    {"chat", cmd_chat, "converse with a language model by the chat template of its folder"},
    {"embed", cmd_embed, "write a vector for each line of a text, with an encoder such as BERT"},
    {"serve", cmd_serve, "serve models to other programs over HTTP: OpenAI's, LibreTranslate's and DeepL's interfaces"},
    {"eval", cmd_eval, "evaluate a model: loss, perplexity, BLEU and chrF"},
    {"explain", cmd_explain, "print all intermediate activations of a forward pass"},
    {"score", cmd_score, "BLEU and chrF of a translated text, as sacreBLEU computes them"},
    {"fetch", cmd_fetch, "download a public data set or vocabulary, and check it"},
    {"data", cmd_data, "check sentence pairs before training: lengths, duplicates, defects"},
    {"tokenizer", cmd_tokenizer, "train tokenizers, encode text to ids, decode ids"},
    {"plot", cmd_plot, "plot attention weights, positions, embeddings, training curves or tables"},
    {"info", cmd_info, "this machine, a model's sizes, or what training from a recipe takes"},
    {"bench", cmd_bench, "throughput of kernels, training steps, decoding, tokenizers, groups of processes"},
};
#define COMMAND_COUNT (sizeof COMMANDS / sizeof *COMMANDS)

static void print_help(FILE *to)
{
    fprintf(to, "Usage: rapt COMMAND [ARGUMENTS] [--options]\n"
                "Train and run Transformers on CPUs.\n\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(to, "  %-10s %s\n", COMMANDS[i].name, COMMANDS[i].meaning);
    fprintf(to, "\n`rapt help COMMAND` or `rapt COMMAND -h` lists a command's arguments and options; `rapt --version` prints the "
                "version.\n"
                "Exit status: 0 success, 1 failure, 2 usage error, 128 + N after signal N (Ctrl-C: 130).\n");
}

static int unknown(const char *name)
{
    const char *names[COMMAND_COUNT];
    const launch l = launch_find();
    if (l.mpi && l.size != 1 && !launch_speaks(&l, true))
        return 2;
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i] = COMMANDS[i].name;
    const char *near = suggest_nearest(name, names, COMMAND_COUNT);
    fprintf(stderr, "rapt: there is no command \"%s\"", quote(name).text);
    if (near)
        fprintf(stderr, "; did you mean \"%s\"?", near);
    fprintf(stderr, " (see `rapt --help`)\n");
    if (l.mpi && l.size != 1)
        launch_leave(&l, 2);
    return 2;
}

/* Several processes would do the same work, and write to the same files. */
static bool is_started_too_often(int argc, char **argv, const char *title)
{
    launch l = launch_find();
    if (!l.mpi || l.size <= 1 || strcmp(argv[1], "train") == 0 || (strcmp(argv[1], "bench") == 0 && argc > 2 &&
                                                                   strcmp(argv[2], "group") == 0))
        return false;
    char speaker[LAUNCH_SPEAKER];
    if (launch_speaks(&l, true)) {
        fprintf(stderr, "%s: %sruns in one process, and %s has started %d: start it without %s\n", title,
                launch_speaker(&l, true, speaker), l.launcher, l.size,
                strcmp(l.launcher, "srun") == 0 ? "srun, or by `srun --mpi=none`" : "mpirun");
        launch_leave(&l, 2);
    }
    return true;
}

static int run_command(int argc, char **argv)
{
    char title[64];
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(argv[1], COMMANDS[i].name) == 0) {
            snprintf(title, sizeof title, "rapt %s", argv[1]);
            if (is_started_too_often(argc, argv, title))
                return 2;
            argv[1] = title;
            return COMMANDS[i].run(argc - 1, argv + 1);
        }
    return unknown(argv[1]);
}

static bool is_help(const char *option)
{
    return strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0 || strcmp(option, "-?") == 0;
}

/* `rapt help plot attention` is `rapt plot attention --help`. */
static int help(int argc, char **argv)
{
    char *asked[] = {argv[0], argc > 2 ? argv[2] : NULL, "--help", NULL, NULL};
    if (argc > 4) {
        fprintf(stderr, "rapt help: extra operand: takes a command and its subcommand (see `rapt --help`)\n");
        return 2;
    }
    if (argc < 3 || is_help(argv[2])) {
        print_help(stdout);
        return 0;
    }
    if (argc == 4) {
        asked[2] = argv[3];
        asked[3] = "--help";
    }
    return run_command(argc, asked);
}

/* Results may go to a pipe or a full disk: output that could not be written is a failure. This runs at exit, because --help
 * ends the program by itself. */
static void flush_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return;
    perror("rapt: cannot write results");
    _exit(1);
}

/* If descriptor 0, 1 or 2 is closed, the next file that is opened would get its number, and then printed text. So /dev/null takes
 * these numbers. It is opened in the wrong direction, so that reading and writing fail as on a closed descriptor. */
static void take_closed_streams(void)
{
    static const int WRONG_WAY[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", WRONG_WAY[fd]) != fd)
            _exit(1);
}

static void *allocate_json(size_t size)
{
    void *p = malloc(size);
    if (!p && size > 0) {
        fprintf(stderr, "rapt: out of memory for JSON\n");
        _exit(1);
    }
    return p;
}

/* If memory ends while jansson 2.14 reads a text, bytes of the text are silently lost; code that builds JSON would leave members
 * out. So a command ends; the files that it was writing have no names yet. A server allocates the memory of a request
 * beforehand. */
static void end_where_json_has_no_memory(const char *name)
{
    if (strcmp(name, "serve") != 0)
        json_set_alloc_funcs(allocate_json, free);
}

int main(int argc, char **argv)
{
    take_closed_streams();
    signal(SIGPIPE, SIG_DFL);
    cut_files_watch();
    atexit(flush_output);
    if (argc < 2) {
        print_help(stderr);
        return 2;
    }
    if (is_help(argv[1])) {
        print_help(stdout);
        return 0;
    }
    if (strcmp(argv[1], "help") == 0)
        return help(argc, argv);
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("rapt %s\n", rapt_version());
        return 0;
    }
    end_where_json_has_no_memory(argv[1]);
    return run_command(argc, argv);
}
