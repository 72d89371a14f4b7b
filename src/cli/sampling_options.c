/* cli/sampling_options.c: how tokens are drawn. */
#include "cli/sampling_options.h"

#include "cli/cli.h"

#define ARGUMENTS rapt_sample_options

static void take_seed(const cli_option *o, void *in, const char *text)
{
    (void)o;
    ((rapt_sample_options *)in)->seed = (uint64_t)cli_seed(text);
}

static const cli_option KINDS[] = {
    OPTION_NUMBER("temperature", "T", AT(temperature), 0, 1e6, "Softmax temperature (default 0.8; for translations 1, if another "
                  "option asks for sampling): 1 leaves the model's distribution unchanged, lower sharpens it, higher flattens "
                  "it; 0: greedy"),
    OPTION_FLAG("greedy", AT(greedy), "Always the most probable token: --temperature 0"),
    OPTION_COUNT("top-k", "K", AT(top_k), 0, OPTION_ANY, "Sample from the K most probable tokens only (default 200; for "
                 "translations all); 0: all"),
    OPTION_NUMBER("top-p", "P", AT(top_p), 0, 1, "Nucleus sampling: sample from the most probable tokens that add up to "
                  "probability P, after --top-k; 0 or 1: all (default)"),
    OPTION_NUMBER("min-p", "P", AT(min_p), 0, 1, "Sample only from tokens with at least P times the probability of the most "
                  "probable one, after --top-p; 0: all (default)"),
    OPTION_NUMBER("typical-p", "P", AT(typical_p), 0, 1, "Locally typical sampling: sample from the tokens whose information is "
                  "nearest to the entropy and that add up to probability P, after --min-p; 0 or 1: all (default)"),
    {0}};

const cli_option sampling_options_rows[] = {
    OPTION_TABLE(KINDS, 0),
    OPTION_NUMBER("repetition-penalty", "R", AT(repetition_penalty), 0.001, 1000, "Above 1 makes tokens that occurred before "
                  "less likely: positive logits / R, negative * R; 1: off (default, but for a Hugging Face folder that says "
                  "otherwise); 0.001 to 1000"),
    CLI_OPTION_SEED(take_seed, "Random seed (default 1): what is drawn depends on the seed, the options and the prompt, or the "
                    "line and its number, not on the machine, the batch or the threads"),
    {0}};

const char *sampling_options_given(void)
{
    return options_given_of(KINDS);
}

void sampling_options_finish(rapt_sample_options *s)
{
    if (options_given("top-p") && s->top_p == 0)
        s->top_p = 1;
}
