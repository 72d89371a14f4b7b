/* cli/cmd_average.c: `rapt average`: a model of the mean of a training run's last checkpoints. The work is rapt_average's. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/cli_model.h"
#include "cli/say.h"

#include "base/file.h"
#include "rapt/train.h"

#include <stdlib.h>

typedef struct average_arguments {
    const char *model, *out;
    size_t last;
    bool quiet;
} average_arguments;

#define ARGUMENTS average_arguments
static const cli_option OPTIONS[] = {
    OPTION_COUNT("last", "N", AT(last), 1, 1000, "Number of checkpoints to average, the latest ones (default: all that are kept)",
                 .letter = 'n'),
    OPTION_TEXT("out", "DIR", AT(out), "Model folder to write (default: average, in the model's folder)", .letter = 'o'),
    OPTION_FLAG("quiet", AT(quiet), "No line about what was written"),
    {0}};

const cli_command average_command = {
    .options = OPTIONS, .operands = "MODEL",
    .about = "Checkpoint averaging: write a model with the mean of the parameters of a training run's last checkpoints.",
    .notes = "The recipe's train.keep sets how many checkpoints a run keeps, train.checkpoint_every how far apart they are. With "
             "checkpoint_every 0 they are written by time, so that two runs may have checkpoints, and averages, of different "
             "steps.",
    .least = 1, .missing = "MODEL, a model folder that rapt train has written", .most = 1, .takes = "one model folder",
    .operand = {AT(model)}};

int cmd_average(int argc, char **argv)
{
    average_arguments a = {0};
    rapt_error err = {0};
    options_parse(&average_command, argc, argv, &a);
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
