/* cli/bench.c: `rapt bench`: which benchmark, which options. */
#include "cli/bench.h"

#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

enum { KEY_CASE = 256, KEY_THREADS, KEY_SECONDS, KEY_JSON, KEY_PROFILE, KEY_PRECISION };

static const struct argp_option OPTIONS[] = {
    {"case", KEY_CASE, "NAME", 0, "One case only; train: a1 (default), a2, a3, a4n, a4b, a5, a6; kernels: MxNxK", 0},
    {"threads", KEY_THREADS, "N", 0, "Threads (default: RAPT_THREADS, else all CPUs)", 0},
    {"seconds", KEY_SECONDS, "S", 0, "Seconds to measure each case for", 0},
    {"precision", KEY_PRECISION, "P", 0, "Of products: fp32 (default) or bf16", 0},
    {"profile", KEY_PROFILE, NULL, 0, "train: print what each operation takes, and its share of the peak", 0},
    {"json", KEY_JSON, NULL, 0, "Print JSON objects", 0},
    {0}};

typedef struct bench_arguments {
    const char *what;
    rapt_code (*run)(const bench_options *o, rapt_error *err);
    bench_options o;
} bench_arguments;

static const struct {
    const char *name;
    rapt_code (*run)(const bench_options *o, rapt_error *err);
} BENCHES[] = {{"kernels", bench_kernels}, {"train", bench_train}, {"tokenizer", bench_tokenizer}};

static void take_argument(bench_arguments *a, const char *text, struct argp_state *state)
{
    for (size_t i = 0; !a->what && i < sizeof BENCHES / sizeof *BENCHES; i++)
        if (strcmp(text, BENCHES[i].name) == 0)
            a->run = BENCHES[i].run;
    if (!a->run)
        argp_error(state, "wants `kernels`, `train`, or `tokenizer` with a tokenizer and a text");
    else if (!a->what)
        a->what = text;
    else if (a->run == bench_tokenizer && !a->o.text)
        *(a->o.tokenizer ? &a->o.text : &a->o.tokenizer) = text;
    else
        argp_error(state, "%s: one argument too much", text);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    bench_arguments *a = state->input;
    switch (key) {
    case KEY_CASE: a->o.case_name = text; return 0;
    case KEY_THREADS: a->o.threads = (int)cli_integer(text, 1, 256, "threads", state); return 0;
    case KEY_SECONDS: a->o.seconds = cli_number(text, 0.01, 3600, "seconds", state); return 0;
    case KEY_PRECISION: a->o.precision = cli_precision(text, state); return 0;
    case KEY_JSON: a->o.json = true; return 0;
    case KEY_PROFILE: a->o.profile = true; return 0;
    case ARGP_KEY_ARG:
        take_argument(a, text, state);
        return 0;
    case ARGP_KEY_END:
        if (!a->what || (a->run == bench_tokenizer && !a->o.text))
            argp_error(state, "wants `kernels`, `train`, or `tokenizer` with a tokenizer and a text");
        if (a->o.profile && a->run != bench_train)
            argp_error(state, "--profile is for `train`");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp ARGP = {
    .options = OPTIONS, .parser = parse, .args_doc = "kernels\ntrain\ntokenizer TOKENIZER TEXT",
    .doc = "Time matrix products, training steps or a tokenizer on this machine."
           "\vkernels: ten shapes of Transformers in the three forms of a linear layer, NT (forward), NN (input gradient) and "
           "TN (weight gradient). train: whole steps (forward, backward, clipping, Adam) of the d2l book's model (a1), a "
           "Multi30k-sized (a2) and a base-sized one (a3), on random sentences; of nanoGPT's model for CPUs (a4n) and its baby "
           "GPT (a4b), a small model under a vocabulary of 100,069 (a5), and GPT-2 124M (a6), on random tokens. "
           "tokenizer: encoding and decoding of a text on one thread."};

int cmd_bench(int argc, char **argv)
{
    bench_arguments a = {0};
    rapt_error err = {0};
    argp_parse(&ARGP, argc, argv, 0, NULL, &a);
    rapt_code code = a.run(&a.o, &err);
    return code ? cli_fail(&err) : 0;
}
