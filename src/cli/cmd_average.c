/* cli/cmd_average.c: `rapt average`: a model of the mean of a training run's last checkpoints. The work is rapt_average's. */
#include "cli/cli.h"
#include "cli/cli_model.h"
#include "cli/say.h"

#include "base/file.h"
#include "rapt/train.h"

#include <stdlib.h>

enum { KEY_LAST = 'n', KEY_OUT = 'o' };

static const struct argp_option OPTIONS[] = {
    {"last", KEY_LAST, "N", 0, "Number of checkpoints to average, the latest ones (default: all that are kept)", 0},
    {"out", KEY_OUT, "DIR", 0, "Model folder to write (default: average, in the model's folder)", 0},
    CLI_OPTION_QUIET("No line about what was written"),
    {0}};

typedef struct average_arguments {
    const char *model, *out;
    size_t last;
    bool quiet;
} average_arguments;

static error_t cmd_average_parse(int key, char *text, struct argp_state *state)
{
    average_arguments *a = state->input;
    switch (key) {
    case KEY_LAST: a->last = (size_t)cli_integer(text, 1, 1000, "last", state); return 0;
    case KEY_OUT: a->out = text; return 0;
    case CLI_KEY_QUIET: a->quiet = true; return 0;
    case ARGP_KEY_ARG: cli_operand(&a->model, text, "one model folder", state); return 0;
    case ARGP_KEY_END:
        if (!a->model)
            cli_usage_error(state, "missing operand: MODEL, a model folder that rapt train has written");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp ARGP = {
    .options = OPTIONS, .parser = cmd_average_parse, .args_doc = "MODEL",
    .doc = "Checkpoint averaging: write a model with the mean of the parameters of a training run's last checkpoints."
           "\vThe recipe's train.keep sets how many checkpoints a run keeps, train.checkpoint_every how far apart they are. With "
           "checkpoint_every 0 they are written by time, so that two runs may have checkpoints, and averages, of different "
           "steps."};

int cmd_average(int argc, char **argv)
{
    average_arguments a = {0};
    rapt_error err = {0};
    cli_parse(&ARGP, argc, argv, &a);
    cli_note_seal(a.model);
    char *own = NULL;
    rapt_code code = a.out ? RAPT_OK : file_path(a.model, "average", &own, &err);
    if (!code)
        code = rapt_average(a.model, a.last, a.out ? a.out : own, &err);
    if (!code && !a.quiet && a.last)
        cli_say("wrote %s: the average of the last %zu checkpoints of %s\n", a.out ? a.out : own, a.last, a.model);
    else if (!code && !a.quiet)
        cli_say("wrote %s: the average of the checkpoints of %s\n", a.out ? a.out : own, a.model);
    free(own);
    return code ? cli_fail(&err) : 0;
}
