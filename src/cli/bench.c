/* cli/bench.c: `rapt bench`: which benchmark, which options. */
#include "cli/bench.h"

#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

enum { KEY_CASE = 256, KEY_THREADS, KEY_SECONDS, KEY_JSON };

static const struct argp_option OPTIONS[] = {
    {"case", KEY_CASE, "NAME", 0, "One case only; train: a1 (default), a2, a3; kernels: MxNxK", 0},
    {"threads", KEY_THREADS, "N", 0, "Threads (default: RAPT_THREADS, else all CPUs)", 0},
    {"seconds", KEY_SECONDS, "S", 0, "Seconds to measure each case for", 0},
    {"json", KEY_JSON, NULL, 0, "Print JSON objects", 0},
    {0}};

typedef struct bench_arguments {
    const char *what;
    bench_options o;
} bench_arguments;

static error_t parse(int key, char *text, struct argp_state *state)
{
    bench_arguments *a = state->input;
    switch (key) {
    case KEY_CASE: a->o.case_name = text; return 0;
    case KEY_THREADS: a->o.threads = (int)cli_integer(text, 1, 256, "threads", state); return 0;
    case KEY_SECONDS: a->o.seconds = cli_number(text, 0.01, 3600, "seconds", state); return 0;
    case KEY_JSON: a->o.json = true; return 0;
    case ARGP_KEY_ARG:
        if (a->what || (strcmp(text, "kernels") != 0 && strcmp(text, "train") != 0))
            argp_error(state, "wants `kernels` or `train`");
        a->what = text;
        return 0;
    case ARGP_KEY_END:
        if (!a->what)
            argp_error(state, "wants `kernels` or `train`");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp ARGP = {
    .options = OPTIONS, .parser = parse, .args_doc = "kernels|train",
    .doc = "Time matrix products or training steps on this machine."
           "\vkernels: ten shapes of Transformers in the three forms of a linear layer, NT (forward), NN (input gradient) and "
           "TN (weight gradient). train: whole steps (forward, backward, clipping, Adam) of the d2l book's model (a1), a "
           "Multi30k-sized (a2) and a base-sized one (a3), on random sentences."};

int cmd_bench(int argc, char **argv)
{
    bench_arguments a = {0};
    rapt_error err = {0};
    argp_parse(&ARGP, argc, argv, 0, NULL, &a);
    rapt_code code = a.what[0] == 'k' ? bench_kernels(&a.o, &err) : bench_train(&a.o, &err);
    return code ? cli_fail(&err) : 0;
}
