/* bench/bench_main.c: the program `rapt-bench`: which benchmark, which options. bench_shared.c has what benchmarks share. */
#include "bench/bench.h"

#include "cli/cli.h"
#include "cli/start.h"

#include <string.h>

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

static void take_operand(bench_arguments *a, const char *text)
{
    bool first = !a->what;
    for (size_t i = 0; first && i < sizeof BENCHES / sizeof *BENCHES; i++)
        if (strcmp(text, BENCHES[i].name) == 0) {
            a->what = text;
            a->run = BENCHES[i].run;
        }
    if (!a->what)
        usage_error("%s", WANTED);
    else if (first)
        return;
    else if (a->run == bench_tokenizer && !a->o.text)
        *(a->o.tokenizer ? &a->o.text : &a->o.tokenizer) = text;
    else if (!a->run && !a->o.recipe)
        a->o.recipe = text;
    else if (a->run == bench_decode && !a->o.model)
        a->o.model = text;
    else
        usage_error("extra operand: %s", text);
}

static void cmd_bench_check(const bench_arguments *a)
{
    const bench_sizes *s = &a->o.sizes;
    bool models = a->run == bench_train || a->run == bench_decode;
    if (!a->what || (a->run == bench_tokenizer && !a->o.text))
        usage_error("%s", WANTED);
    if (a->o.model && (a->o.case_name || s->layers || s->width || s->vocab))
        usage_error("a model has its own sizes: not with --case, --layers, --width, --vocab");
    if (a->o.profile && !models)
        usage_error("--profile is for `train` and `decode`");
    if (a->o.recompute && a->run != bench_train)
        usage_error("--recompute is for `train`");
    if ((a->o.optimizer || a->o.gradients_bf16) && a->run != bench_train)
        usage_error("--optimizer and --gradients are for `train`");
    if (a->o.release_gradients && (a->run != bench_train || a->o.gradients_bf16))
        usage_error("--release-gradients is for `train`, and not with --gradients bf16");
    if ((s->layers || s->width || s->vocab || s->batch || s->time) && !models)
        usage_error("sizes (--layers, --width, --vocab, --batch, --time) are for `train` and `decode`");
    if (a->o.beam && a->run != bench_decode)
        usage_error("--beam is for `decode`");
    if (s->prompt && a->run != bench_decode)
        usage_error("--prompt is for `decode`");
    if (a->o.weights && a->run != bench_decode)
        usage_error("--weights is for `decode`");
    if (a->o.kv_cache != RAPT_TYPE_FP32 && a->run != bench_decode)
        usage_error("--kv-cache is for `decode`");
    if ((a->o.elements || a->o.ranks) && a->run)
        usage_error("--elements and --ranks are for `group`");
    if (a->o.case_name && !a->run)
        usage_error("`group` takes a recipe, no --case");
}

#define ARGUMENTS bench_arguments
static const cli_option OPTIONS[] = {
    OPTION_TEXT("case", "NAME", AT(o.case_name), "One case only; train: a1 (default), a2, a3, a4n, a4b, a5, a6, long; decode: "
                "gpt2 (default), a2, a3; kernels: MxNxK"),
    OPTION_COUNT("layers", "N", AT(o.sizes.layers), 1, 1000, "train, decode: number of blocks (on each side)"),
    OPTION_COUNT("width", "N", AT(o.sizes.width), 8, 65536, "train, decode: d_model; the features per head stay as they are, the "
                 "feed-forward network grows in proportion"),
    OPTION_COUNT("vocab", "N", AT(o.sizes.vocab), 8, 4000000, "train, decode: vocabulary size"),
    OPTION_COUNT("batch", "N", AT(o.sizes.batch), 1, 100000, "train, decode: batch size in rows (decode: gpt2 1, then 8; a2, a3 "
                 "32)"),
    OPTION_COUNT("time", "N", AT(o.sizes.time), 2, 1000000, "train, decode: tokens of a row (decode: gpt2 the prompt's and "
                 "128 new ones; a2, a3 at most 20)"),
    OPTION_COUNT("prompt", "N", AT(o.sizes.prompt), 1, 1000000, "decode (gpt2): tokens of the prompt (default 32)"),
    OPTION_COUNT("beam", "N", AT(o.beam), 1, 100, "decode: beam size (default: 1, then 4)"),
    OPTION_INT("threads", "N", AT(o.threads), 1, 256, "Number of threads (default: RAPT_THREADS, else all CPUs)"),
    OPTION_NUMBER("seconds", "S", AT(o.seconds), 0.01, 3600, "Duration of each measurement in seconds"),
    CLI_OPTION_PRECISION(AT(o.precision), CLI_PRECISION),
    CLI_OPTION_WEIGHTS(AT(o.weights), AT(o.precision), "decode: types of the weights: fp32 (default), bf16, q8_0 or q4_0; "
                       "others by name, as of `rapt generate`"),
    CLI_OPTION_KV_CACHE(AT(o.kv_cache), "decode: what the KV cache stores keys and values in: fp32 (default), bf16 or q8_0"),
    OPTION_FLAG("recompute", AT(o.recompute), "train: activation (gradient) checkpointing per block, as train.recompute"),
    OPTION_WORD("optimizer", "NAME", AT(o.optimizer), RAPT_RECIPE_OPTIMIZER_ADAM, "adam, adam8bit, muon",
                "train: adam (default), adam8bit or muon, as train.optimizer"),
    OPTION_EITHER("gradients", "P", AT(o.gradients_bf16), "fp32, bf16", "train: fp32 (default) or bf16, as train.gradients"),
    OPTION_FLAG("release-gradients", AT(o.release_gradients), "train: update in the backward pass, as train.release_gradients; "
                "without clipping"),
    OPTION_FLAG("profile", AT(o.profile), "train, decode (gpt2): print the time of each operation and its share of the peak"),
    OPTION_COUNT("elements", "N", AT(o.elements), 1, 1LL << 40, "group: elements to exchange (default 8388608: 32 MB)"),
    OPTION_COUNT("ranks", "N", AT(o.ranks), 1, 1024, "group: without mpirun, N ranks in one process (default 1)"),
    OPTION_FLAG("json", AT(o.json), "Print JSON objects"),
    {0}};

static void cmd_bench_finish(void *arguments)
{
    size_t count;
    char **operands = options_operands(&count);
    for (size_t i = 0; i < count; i++)
        take_operand(arguments, operands[i]);
    cmd_bench_check(arguments);
}

static const cli_command COMMAND = {
    .options = OPTIONS, .operands = "kernels\ntrain\ndecode [MODEL]\ntokenizer TOKENIZER TEXT\ngroup [RECIPE.yaml]",
    .about = "Measure the throughput of matmuls, training steps, decoding or a tokenizer on this machine, beside its peak, "
             "measured in the same run; or the exchange between several machines.",
    .notes = "kernels: matmuls of ten shapes in the three forms of a linear layer, NT (forward), NN (input gradient) and TN "
             "(weight gradient). train: whole steps (forward, backward, clipping, Adam) of the d2l book's model (a1), a "
             "Multi30k-sized (a2) and a base-sized one (a3), on random sentences; of nanoGPT's model for CPUs (a4n) and its "
             "baby GPT (a4b), a small model under a vocabulary of 100,069 (a5), GPT-2 124M (a6), and one row of 8,192 tokens "
             "(long), on random tokens. decode: GPT-2 124M with random weights generates 128 tokens after a prompt of 32, "
             "greedily, with batch size 1 and 8; it is limited by memory bandwidth. MODEL: a language model of one's own "
             "instead, after random tokens, past its end of text. a2, a3: 500 random sentences translated, greedily and with a "
             "beam size of 4. tokenizer: encoding and decoding a text on one thread. group, started by mpirun as `rapt train`: "
             "the exchange of a training step between processes, in milliseconds and bytes beside the least possible; with a "
             "recipe, its steps by each process alone and by all together.",
    .finish = cmd_bench_finish};

int main(int argc, char **argv)
{
    static char name[] = "rapt-bench";
    bench_arguments a = {0};
    rapt_error err = {0};
    start_program(&argc, &argv);
    start_json();
    argv[0] = name;
    options_parse(&COMMAND, argc, argv, &a);
    if (!a.run)
        return bench_group(&a.o);
    if (start_refuses_group(name))
        return USAGE_STATUS;
    rapt_code code = a.run(&a.o, &err);
    return code ? cli_fail(&err) : 0;
}
