/* cli/generation_options.c: options of commands that generate text. */
#include "cli/generation_options.h"

#include "base/rows.h"
#include "base/system_random.h"
#include "cli/sampling_options.h"
#include "decode/generate_options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ARGUMENTS generation_options

static void take_bias(const cli_option *option, void *in, const char *text)
{
    generation_options *g = in;
    char id[32];
    const char *colon = strchr(text, ':');
    if (g->o.sample.bias_count == GENERATE_MAX_BIASES)
        usage_error("more than %d --logit-bias", GENERATE_MAX_BIASES);
    if (!colon || (size_t)(colon - text) >= sizeof id)
        usage_error("--logit-bias: '%s' is not ID:BIAS", text);
    snprintf(id, sizeof id, "%.*s", (int)(colon - text), text);
    rapt_logit_bias *bias = &g->biases[g->o.sample.bias_count++];
    bias->id = (int32_t)option_integer(id, 0, INT32_MAX, option->name);
    bias->bias = strcmp(colon + 1, "-inf") == 0 ? -INFINITY : option_number(colon + 1, -1e6, 1e6, option->name);
}

const cli_option generation_options_rows[] = {
    OPTION_COUNT("beam", "N", AT(o.beam), 1, 1024, "Beam search for the text of the highest score, over N hypotheses, instead of "
                 "sampling (default 1: none)"),
    OPTION_TABLE(sampling_options_rows, AT(o.sample)),
    OPTION_TAKE("logit-bias", "ID:BIAS", take_bias, "Add BIAS to the logit of token ID; -inf excludes it; can be repeated"),
    OPTION_COUNT("repetition-window", "N", AT(o.sample.repetition_window), 0, OPTION_ANY, "The penalty applies to the last N "
                 "tokens; 0: to the whole context (default)"),
    OPTION_NUMBER("presence-penalty", "P", AT(o.sample.presence_penalty), -2, 2, "Take P from the logit of a token that was "
                  "generated already; -2 to 2"),
    OPTION_NUMBER("frequency-penalty", "P", AT(o.sample.frequency_penalty), -2, 2, "Take P from the logit of a token as often as "
                  "it was generated; -2 to 2"),
    OPTION_FLAG("random-seed", AT(random_seed), "A random seed from the system, which stderr (and --json) prints",
                .not_with = "seed"),
    OPTION_TEXTS("stop", "TEXT", AT(stops), AT(o.stop_count), GENERATE_MAX_STOPS, "Stop sequence: end the text before TEXT, "
                 "which is not printed; can be repeated"),
    OPTION_LONG("context", "N", AT(context), 1, OPTION_ANY, "See at most the last N tokens (default: the model's context), which "
                "bounds the memory of the KV cache"),
    OPTION_COUNT("lookup", "N", AT(o.lookup), 0, 64, "Prompt lookup: tokens that followed the last ones earlier in the text are "
                 "computed in one pass, at most N (default 16); 0: off. Only the time depends on it"),
    CLI_OPTION_ADAPTER(AT(adapter)),
    CLI_OPTION_WITHOUT_HEAD(AT(without.names), AT(without.count)),
    CLI_OPTION_PRECISION(AT(o.compute.type), CLI_PRECISION),
    CLI_OPTION_WEIGHTS(AT(o.compute.weights), AT(o.compute.type), CLI_WEIGHTS),
    CLI_OPTION_KV_CACHE(AT(o.compute.kv_cache), CLI_KV_CACHE),
    CLI_OPTION_THREADS(AT(o.compute.threads)),
    {0}};

/* A seed that --seed also accepts, so that the run can be repeated. */
static uint64_t random_seed(void)
{
    uint64_t seed = 0;
    if (!system_random(&seed))
        usage_error("--random-seed: the system has no random numbers");
    return seed % OPTION_ANY;
}

void generation_options_finish(generation_options *g, long long samples)
{
    for (size_t i = 0; i < g->o.stop_count; i++)
        if (!*g->stops[i])
            usage_error("--stop: the stop sequence is empty");
    sampling_options_finish(&g->o.sample);
    if (options_given("beam") && g->o.beam > 1 && (generate_options_ask(&g->o.sample) || samples > 1))
        usage_error("--beam does not sample: not with --temperature, --greedy, --top-k, --top-p, --min-p, --typical-p, "
                    "--samples");
    if (options_given("beam") && g->o.beam > 1 && g->o.sample.repetition_window > 0)
        usage_error("--repetition-window is not for --beam, whose penalty covers the whole text");
    if (samples > 1)
        g->o.beam = 1;
    if (g->random_seed)
        g->o.sample.seed = random_seed();
    g->o.sample.biases = g->biases;
    g->o.stops = g->stops;
    g->o.max_tokens = (size_t)g->max_tokens;
}

const char *generation_end(rapt_finish_reason finish)
{
    static const char *const ends[] = {[RAPT_FINISH_NONE] = "interrupted", [RAPT_FINISH_LENGTH] = "length",
                                       [RAPT_FINISH_STOP] = "stop", [RAPT_FINISH_END_OF_TEXT] = "end_of_text"};
    ROWS_FIT(ends, RAPT_FINISH_REASONS, 0);
    return ends[finish];
}
