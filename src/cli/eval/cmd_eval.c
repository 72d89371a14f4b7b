/* cli/eval/cmd_eval.c: `rapt eval`: options, and which kind of model is evaluated on which kind of file. eval_pairs.c and
 * eval_text.c do the work. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/cli_model.h"
#include "cli/data_conversations.h"
#include "cli/eval/cmd_eval.h"
#include "cli/eval/eval_compare.h"
#include "cli/say.h"

#include "io/model_core.h"
#include "rapt/metrics.h"
#include "rapt/recipe.h"

#include <string.h>

#define ARGUMENTS eval_arguments
static const cli_option FOR_TEXT[] = {
    OPTION_LONG("context", "N", AT(context), 1, OPTION_ANY, "For language models: windows of at most N tokens (default: the "
                "model's context)"),
    CLI_OPTION_KV_CACHE(AT(o.compute.kv_cache), "For language models: attend to keys and values as a KV cache stores them in "
                        "fp32 (default), bf16 or q8_0: what that costs in perplexity"),
    OPTION_FLAG("conversations", AT(conversations), "For language models: the files have conversations, whatever their "
                "names are"),
    OPTION_WORD("loss-on", "TOKENS", AT(loss_on), RAPT_RECIPE_LOSS_ON_ANSWERS, "answers, all", "Tokens of conversations that "
                "count: answers (default) or all"),
    {0}};

static const cli_option FOR_PAIRS[] = {
    OPTION_COUNT("beam", "N", AT(o.beam), 1, 1024, "Beam size: beam search over N hypotheses (default 1: greedy search; of a "
                 "Hugging Face folder, what its generation_config.json says)"),
    OPTION_NUMBER("length-penalty", "A", AT(o.length_penalty), -10, 10, "Exponent of the length penalty (default 1; of a Hugging "
                  "Face folder, what it says)"),
    OPTION_COUNT("limit", "N", AT(limit), 1, OPTION_ANY, "Evaluate only the first N pairs of each file"),
    OPTION_FLAG("lowercase", AT(lowercase), "Score lower-cased text, for models that write lower case"),
    OPTION_WORD("tokenize", "NAME", AT(tokenize), RAPT_TOKENIZE_13A, "13a, none, intl, char, zh", "Tokenization of BLEU: 13a, "
                "none, intl, char, zh (default: by the targets' script)"),
    OPTION_FLAG("strict", AT(strict), "Unknown words, and pairs that would be truncated, are errors"),
    OPTION_FLAG("each", AT(each), "Print a line for each line of FILE, in place of the loss of all: log-probability (in nats) "
                "of the target given the source, summed over its tokens and <eos>, a tab, its mean, a tab, the number of "
                "tokens; nan, nan, 0 for a line without a pair, or with an empty side", .not_with = "compare"),
    OPTION_FLAG("tokens", AT(tokens), "With --each: append a tab and the tokens of the target, a tab and the log-probability of "
                "each", .needs = "each"),
    {0}};

static const cli_option OPTIONS[] = {
    CLI_OPTION_ADAPTER(AT(adapter)),
    CLI_OPTION_WITHOUT_HEAD(AT(without.names), AT(without.count)),
    CLI_OPTION_PRECISION(AT(o.compute.type), CLI_PRECISION),
    CLI_OPTION_WEIGHTS(AT(o.compute.weights), AT(o.compute.type), CLI_WEIGHTS),
    OPTION_TEXT("compare", "[MODEL]", AT(compare_with), "Also evaluate this model, or without =MODEL the same model in fp32, and "
                "print the changes, with the largest change of a logit"),
    CLI_OPTION_THREADS(AT(o.compute.threads)),
    OPTION_FLAG("json", AT(json), "Print a JSON object for each file"),
    OPTION_FLAG("quiet", AT(quiet), "No warnings"),
    OPTION_TABLE(FOR_TEXT, 0),
    OPTION_HEADING("For translation models:"),
    OPTION_TABLE(FOR_PAIRS, 0),
    OPTION_FLAG("loss-only", AT(loss_only), "Loss and perplexity only: no translation, no BLEU and chrF"),
    {0}};

/* An option of conversations has no effect on texts. */
static void cmd_eval_check_kind(const eval_arguments *a)
{
    for (size_t i = 0; options_given("loss-on") && !a->conversations && i < a->file_count; i++)
        if (!data_conversations_name(a->files[i]))
            usage_error("--loss-on is for conversations: files whose names end in .jsonl, or any with --conversations");
}

static void cmd_eval_finish(void *arguments)
{
    eval_arguments *a = arguments;
    char **paths = options_operands(&a->file_count);
    a->model = paths[0];
    a->files = paths + 1;
    a->file_count--;
    a->compares = options_given("compare");
    if (a->compare_with && !*a->compare_with)
        usage_error("--compare: MODEL is missing; without = it is the same model");
    a->for_pairs = options_given_of(FOR_PAIRS);
    a->for_text = options_given_of(FOR_TEXT);
    a->loss_only = a->loss_only || a->each;
    if (a->each && (options_given("lowercase") || options_given("tokenize")))
        usage_error("--lowercase and --tokenize are for BLEU and chrF, which --each does not compute");
    if (a->each && a->file_count > 1)
        usage_error("--each takes one file");
    cmd_eval_check_kind(a);
}

const cli_command eval_command = {
    .options = OPTIONS, .operands = "MODEL FILE...",
    .about = "Evaluate a translation model on validation or test sets of SOURCE<tab>TARGET lines, or a language model on texts.",
    .notes = "Sentence pairs: loss in nats per target token, <eos> included; pairs beyond the maximum length are truncated as "
             "in training. BLEU and chrF are sacreBLEU's, against the targets as they are in the file; Chinese targets are "
             "tokenized as zh, other languages without spaces as char, all others as 13a.\n\nTexts: loss in nats per token, "
             "perplexity, and bits per byte, over the whole file in consecutive windows of the context length; every token "
             "except the first counts once, and so do the bytes of these tokens.\n\nConversations (names that end in .jsonl, "
             "maybe with .gz): loss in nats per token that carries loss when the model is tuned on them.",
    .least = 2, .missing = "MODEL and FILE (sentence pairs, or for a language model a text)", .finish = cmd_eval_finish};

rapt_code eval_files(eval_arguments *a, rapt_model *m, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; !code && i < a->file_count; i++)
        code = (m->task == RAPT_TASK_TRANSLATION                               ? eval_pairs
                : a->conversations || data_conversations_name(a->files[i]) ? eval_conversations
                                                                           : eval_text)(a, m, a->files[i], err);
    return code;
}

int cmd_eval(int argc, char **argv)
{
    eval_arguments a = {.tokenize = EVAL_BY_SCRIPT, .o = rapt_translate_options_default()};
    rapt_error err = {0};
    options_parse(&eval_command, argc, argv, &a);
    cli_warn_threads(a.o.compute.threads, a.quiet);
    rapt_model *m = cli_model_without(cli_model_adapted(a.model, a.adapter, true, &err), &a.without, &err);
    rapt_model *other = m && a.compare_with ? cli_model_adapted(a.compare_with, NULL, true, &err) : NULL;
    bool of_text = m && m->task == RAPT_TASK_LANGUAGE_MODEL;
    const char *unfit = !m ? NULL : of_text ? a.for_pairs : a.for_text;
    rapt_code code = m && !unfit && (other || !a.compare_with) ? RAPT_OK : RAPT_ERR_VALUE;
    a.compare = other ? other : a.compares ? m : NULL;
    if (of_text)
        cli_model_limit_context(m, a.context);
    if (!code && other)
        code = eval_compare_check(&a, m, &err);
    if (!code)
        code = eval_files(&a, m, &err);
    rapt_model_free(other);
    rapt_model_free(m);
    if (unfit) { /* only the loaded model shows which options fit */
        cli_say(of_text ? "rapt: --%s is for translation models; %s is a language model\n"
                        : "rapt: --%s is for language models; %s is a translation model\n", unfit, a.model);
        return 2;
    }
    return code ? cli_fail(&err) : 0;
}
