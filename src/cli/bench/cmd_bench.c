/* cli/bench/cmd_bench.c: `rapt bench`: which benchmark, which options. bench_shared.c has what benchmarks share. */
#include "cli/bench/cmd_bench.h"

#include "cli/cli.h"

#include <string.h>

enum { KEY_CASE = 256, KEY_LAYERS, KEY_WIDTH, KEY_VOCAB, KEY_BATCH, KEY_TIME, KEY_BEAM, KEY_SECONDS, KEY_PROFILE, KEY_RECOMPUTE,
       KEY_ELEMENTS, KEY_RANKS, KEY_PROMPT, KEY_OPTIMIZER, KEY_GRADIENTS };

static const struct argp_option OPTIONS[] = {
    {"case", KEY_CASE, "NAME", 0, "One case only; train: a1 (default), a2, a3, a4n, a4b, a5, a6, long; decode: gpt2 (default), "
     "a2, a3; kernels: MxNxK", 0},
    {"layers", KEY_LAYERS, "N", 0, "train, decode: number of blocks (on each side)", 0},
    {"width", KEY_WIDTH, "N", 0, "train, decode: d_model; the features per head stay as they are, the feed-forward network "
     "grows in proportion", 0},
    {"vocab", KEY_VOCAB, "N", 0, "train, decode: vocabulary size", 0},
    {"batch", KEY_BATCH, "N", 0, "train, decode: batch size in rows (decode: gpt2 1, then 8; a2, a3 32)", 0},
    {"time", KEY_TIME, "N", 0, "train, decode: tokens of a row (decode: gpt2 the prompt's and 128 new ones; "
     "a2, a3 at most 20)", 0},
    {"prompt", KEY_PROMPT, "N", 0, "decode (gpt2): tokens of the prompt (default 32)", 0},
    {"beam", KEY_BEAM, "N", 0, "decode: beam size (default: 1, then 4)", 0},
    {"threads", CLI_KEY_THREADS, "N", 0, "Number of threads (default: RAPT_THREADS, else all CPUs)", 0},
    {"seconds", KEY_SECONDS, "S", 0, "Duration of each measurement in seconds", 0},
    CLI_OPTION_PRECISION("Matmul precision: fp32 (default) or bf16"),
    {"weights", CLI_KEY_WEIGHTS, "T", 0, "decode: types of the weights: fp32 (default), bf16, q8_0 or q4_0; others by name, as "
     "of `rapt generate`", 0},
    {"kv-cache", CLI_KEY_KV_CACHE, "T", 0, "decode: what the KV cache stores keys and values in: fp32 (default), bf16 or "
     "q8_0", 0},
    {"recompute", KEY_RECOMPUTE, NULL, 0, "train: activation (gradient) checkpointing per block, as train.recompute", 0},
    {"optimizer", KEY_OPTIMIZER, "NAME", 0, "train: adam (default) or adam8bit, as train.optimizer", 0},
    {"gradients", KEY_GRADIENTS, "P", 0, "train: fp32 (default) or bf16, as train.gradients", 0},
    {"profile", KEY_PROFILE, NULL, 0, "train, decode (gpt2): print the time of each operation and its share of the peak", 0},
    {"elements", KEY_ELEMENTS, "N", 0, "group: elements to exchange (default 8388608: 32 MB)", 0},
    {"ranks", KEY_RANKS, "N", 0, "group: without mpirun, N ranks in one process (default 1)", 0},
    CLI_OPTION_JSON("Print JSON objects"),
    {0}};

typedef rapt_code bench_run(const bench_options *o, rapt_error *err);

typedef struct bench_arguments {
    const char *what;
    bench_run *run; /* NULL: bench_group */
    bench_options o;
} bench_arguments;

static const struct {
    const char *name;
    bench_run *run;
} BENCHES[] = {{"kernels", bench_kernels}, {"train", bench_train}, {"decode", bench_decode}, {"tokenizer", bench_tokenizer},
              {"group", NULL}};

static const char WANTED[] = "the first operand must be `kernels`, `train`, `decode`, `group`, or `tokenizer` with TOKENIZER and "
                             "TEXT";

static void take_argument(bench_arguments *a, const char *text, struct argp_state *state)
{
    bool first = !a->what;
    for (size_t i = 0; first && i < sizeof BENCHES / sizeof *BENCHES; i++)
        if (strcmp(text, BENCHES[i].name) == 0) {
            a->what = text;
            a->run = BENCHES[i].run;
        }
    if (!a->what)
        cli_usage_error(state, "%s", WANTED);
    else if (first)
        return;
    else if (a->run == bench_tokenizer && !a->o.text)
        *(a->o.tokenizer ? &a->o.text : &a->o.tokenizer) = text;
    else if (!a->run && !a->o.recipe)
        a->o.recipe = text;
    else if (a->run == bench_decode && !a->o.model)
        a->o.model = text;
    else
        cli_usage_error(state, "extra operand: %s", text);
}

static void cmd_bench_check(const bench_arguments *a, struct argp_state *state)
{
    const bench_sizes *s = &a->o.sizes;
    bool models = a->run == bench_train || a->run == bench_decode;
    if (!a->what || (a->run == bench_tokenizer && !a->o.text))
        cli_usage_error(state, "%s", WANTED);
    if (a->o.model && (a->o.case_name || s->layers || s->width || s->vocab))
        cli_usage_error(state, "a model has its own sizes: not with --case, --layers, --width, --vocab");
    if (a->o.profile && !models)
        cli_usage_error(state, "--profile is for `train` and `decode`");
    if (a->o.recompute && a->run != bench_train)
        cli_usage_error(state, "--recompute is for `train`");
    if ((a->o.adam8bit || a->o.gradients_bf16) && a->run != bench_train)
        cli_usage_error(state, "--optimizer and --gradients are for `train`");
    if ((s->layers || s->width || s->vocab || s->batch || s->time) && !models)
        cli_usage_error(state, "sizes (--layers, --width, --vocab, --batch, --time) are for `train` and `decode`");
    if (a->o.beam && a->run != bench_decode)
        cli_usage_error(state, "--beam is for `decode`");
    if (s->prompt && a->run != bench_decode)
        cli_usage_error(state, "--prompt is for `decode`");
    if (a->o.weights && a->run != bench_decode)
        cli_usage_error(state, "--weights is for `decode`");
    if (a->o.kv_cache != RAPT_STORAGE_FP32 && a->run != bench_decode)
        cli_usage_error(state, "--kv-cache is for `decode`");
    if ((a->o.elements || a->o.ranks) && a->run)
        cli_usage_error(state, "--elements and --ranks are for `group`");
    if (a->o.case_name && !a->run)
        cli_usage_error(state, "`group` takes a recipe, no --case");
}

static size_t parse_size(const char *text, long min, long max, const char *option, struct argp_state *state)
{
    return (size_t)cli_integer(text, min, max, option, state);
}

/* Whether the option's value is `second`; any value except `first` and `second` is refused. */
static bool is_second(const char *text, const char *option, const char *first, const char *second, struct argp_state *state)
{
    if (strcmp(text, first) != 0 && strcmp(text, second) != 0)
        cli_usage_error(state, "--%s must be %s or %s, not \"%s\"", option, first, second, text);
    return strcmp(text, second) == 0;
}

static error_t cmd_bench_parse(int key, char *text, struct argp_state *state)
{
    bench_arguments *a = state->input;
    switch (key) {
    case KEY_CASE: a->o.case_name = text; return 0;
    case KEY_LAYERS: a->o.sizes.layers = parse_size(text, 1, 1000, "layers", state); return 0;
    case KEY_WIDTH: a->o.sizes.width = parse_size(text, 8, 65536, "width", state); return 0;
    case KEY_VOCAB: a->o.sizes.vocab = parse_size(text, 8, 4000000, "vocab", state); return 0;
    case KEY_BATCH: a->o.sizes.batch = parse_size(text, 1, 100000, "batch", state); return 0;
    case KEY_TIME: a->o.sizes.time = parse_size(text, 2, 1000000, "time", state); return 0;
    case KEY_PROMPT: a->o.sizes.prompt = parse_size(text, 1, 1000000, "prompt", state); return 0;
    case KEY_BEAM: a->o.beam = parse_size(text, 1, 100, "beam", state); return 0;
    case CLI_KEY_THREADS: a->o.threads = cli_threads(text, state); return 0;
    case KEY_SECONDS: a->o.seconds = cli_number(text, 0.01, 3600, "seconds", state); return 0;
    case CLI_KEY_PRECISION: a->o.precision = cli_precision(text, state); return 0;
    case CLI_KEY_WEIGHTS: a->o.weights = cli_weights(text, &a->o.precision, state); return 0;
    case CLI_KEY_KV_CACHE: a->o.kv_cache = cli_kv_cache(text, state); return 0;
    case CLI_KEY_JSON: a->o.json = true; return 0;
    case KEY_OPTIMIZER: a->o.adam8bit = is_second(text, "optimizer", "adam", "adam8bit", state); return 0;
    case KEY_GRADIENTS: a->o.gradients_bf16 = is_second(text, "gradients", "fp32", "bf16", state); return 0;
    case KEY_RECOMPUTE: a->o.recompute = true; return 0;
    case KEY_PROFILE: a->o.profile = true; return 0;
    case KEY_ELEMENTS: a->o.elements = parse_size(text, 1, 1L << 40, "elements", state); return 0;
    case KEY_RANKS: a->o.ranks = parse_size(text, 1, 1024, "ranks", state); return 0;
    case ARGP_KEY_ARG: take_argument(a, text, state); return 0;
    case ARGP_KEY_END: cmd_bench_check(a, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp ARGP = {
    .options = OPTIONS, .parser = cmd_bench_parse,
    .args_doc = "kernels\ntrain\ndecode [MODEL]\ntokenizer TOKENIZER TEXT\ngroup [RECIPE.yaml]",
    .doc = "Measure the throughput of matmuls, training steps, decoding or a tokenizer on this machine, beside its peak, "
           "measured in the same run; or the exchange between several machines."
           "\vkernels: matmuls of ten shapes in the three forms of a linear layer, NT (forward), NN (input gradient) and "
           "TN (weight gradient). train: whole steps (forward, backward, clipping, Adam) of the d2l book's model (a1), a "
           "Multi30k-sized (a2) and a base-sized one (a3), on random sentences; of nanoGPT's model for CPUs (a4n) and its baby "
           "GPT (a4b), a small model under a vocabulary of 100,069 (a5), GPT-2 124M (a6), and one row of 8,192 tokens (long), on "
           "random tokens. decode: GPT-2 124M with random weights generates 128 tokens after a prompt of 32, greedily, with "
           "batch size 1 and 8; it is limited by memory bandwidth. MODEL: a language model of one's own instead, after random "
           "tokens, past its end of text. a2, a3: 500 random sentences translated, greedily and with a "
           "beam size of 4. tokenizer: encoding and decoding a text on one thread. group, started by mpirun as `rapt train`: the "
           "exchange of a training step between processes, in milliseconds and bytes beside the least possible; with a recipe, "
           "its steps by each process alone and by all together."};

int cmd_bench(int argc, char **argv)
{
    bench_arguments a = {0};
    rapt_error err = {0};
    cli_parse(&ARGP, argc, argv, &a);
    if (!a.run)
        return bench_group(&a.o);
    rapt_code code = a.run(&a.o, &err);
    return code ? cli_fail(&err) : 0;
}
