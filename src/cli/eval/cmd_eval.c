/* cli/eval/cmd_eval.c: `rapt eval`: options, and which kind of model is evaluated on which kind of file. eval_pairs.c and
 * eval_text.c do the work. */
#include "cli/cli.h"
#include "cli/cli_model.h"
#include "cli/eval/cmd_eval.h"
#include "cli/eval/eval_compare.h"
#include "cli/say.h"

#include "rapt/metrics.h"

#include <string.h>

enum { KEY_BEAM = 256, KEY_LENGTH_PENALTY, KEY_LIMIT, KEY_LOWERCASE, KEY_LOSS_ONLY, KEY_STRICT, KEY_TOKENIZE, KEY_COMPARE };

static const struct argp_option OPTIONS[] = {
    CLI_OPTION_ADAPTER,
    CLI_OPTION_PRECISION("Matmul precision: fp32 (default) or bf16"),
    CLI_OPTION_WEIGHTS,
    {"compare", KEY_COMPARE, "MODEL", OPTION_ARG_OPTIONAL, "Also evaluate this model, or without =MODEL the same model in fp32, "
     "and print the changes, with the largest change of a logit", 0},
    CLI_OPTION_THREADS,
    CLI_OPTION_JSON("Print a JSON object for each file"),
    CLI_OPTION_QUIET("No warnings"),
    CLI_OPTION_CONTEXT("For language models: windows of at most N tokens (default: the model's context)"),
    {"kv-cache", CLI_KEY_KV_CACHE, "T", 0, "For language models: attend to keys and values as a KV cache stores them in fp32 "
     "(default), bf16 or q8_0: what that costs in perplexity", 0},
    {NULL, 0, NULL, 0, "For translation models:", 0},
    {"beam", KEY_BEAM, "N", 0, "Beam size: beam search over N hypotheses (default 1: greedy search; of a Hugging Face folder, "
                               "what its generation_config.json says)", 0},
    {"length-penalty", KEY_LENGTH_PENALTY, "A", 0, "Exponent of the length penalty (default 1; of a Hugging Face folder, "
                                                   "what it says)", 0},
    {"limit", KEY_LIMIT, "N", 0, "Evaluate only the first N pairs of each file", 0},
    {"lowercase", KEY_LOWERCASE, NULL, 0, "Score lower-cased text, for models that write lower case", 0},
    {"tokenize", KEY_TOKENIZE, "NAME", 0, "Tokenization of BLEU: 13a, none, intl, char, zh (default: by the targets' script)", 0},
    {"strict", KEY_STRICT, NULL, 0, "Unknown words, and pairs that would be truncated, are errors", 0},
    {"loss-only", KEY_LOSS_ONLY, NULL, 0, "Loss and perplexity only: no translation, no BLEU and chrF", 0},
    {0}};

static void cmd_eval_take_paths(eval_arguments *a, struct argp_state *state)
{
    char **paths = state->argv + state->next;
    size_t count = (size_t)(state->argc - state->next);
    if (count < 2)
        cli_usage_error(state, "missing operand: MODEL and FILE (sentence pairs, or for a language model a text)");
    a->model = paths[0];
    a->files = paths + 1;
    a->file_count = count - 1;
}

static int choose_tokenization(const char *name, struct argp_state *state)
{
    for (int kind = 0; rapt_tokenize_name((rapt_tokenize)kind); kind++)
        if (strcmp(rapt_tokenize_name((rapt_tokenize)kind), name) == 0)
            return kind;
    cli_usage_error(state, "--tokenize: '%s' is none of 13a, none, intl, char, zh", name);
    return EVAL_BY_SCRIPT;
}

static error_t parse_for_pairs(int key, char *text, struct argp_state *state)
{
    eval_arguments *a = state->input;
    switch (key) {
    case KEY_BEAM: a->o.beam = (size_t)cli_integer(text, 1, 1024, a->for_pairs = "beam", state); return 0;
    case KEY_LENGTH_PENALTY:
        a->o.length_penalty = cli_number(text, -10, 10, a->for_pairs = "length-penalty", state);
        a->o.no_length_penalty = a->o.length_penalty == 0;
        return 0;
    case KEY_LIMIT: a->limit = (size_t)cli_integer(text, 1, CLI_MAX, a->for_pairs = "limit", state); return 0;
    case KEY_LOWERCASE:
        a->lowercase = true;
        a->for_pairs = "lowercase";
        return 0;
    case KEY_TOKENIZE:
        a->tokenize = choose_tokenization(text, state);
        a->for_pairs = "tokenize";
        return 0;
    case KEY_STRICT:
        a->strict = true;
        a->for_pairs = "strict";
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static error_t cmd_eval_parse(int key, char *text, struct argp_state *state)
{
    eval_arguments *a = state->input;
    switch (key) {
    case CLI_KEY_ADAPTER: a->adapter = text; return 0;
    case CLI_KEY_PRECISION: a->o.precision = cli_precision(text, state); return 0;
    case CLI_KEY_WEIGHTS: a->o.weights = cli_weights(text, &a->o.precision, state); return 0;
    case CLI_KEY_KV_CACHE:
        a->kv_cache = cli_kv_cache(text, state);
        a->for_text = "kv-cache";
        return 0;
    case CLI_KEY_THREADS: a->o.threads = cli_threads(text, state); return 0;
    case KEY_COMPARE:
        if (text && !*text)
            cli_usage_error(state, "--compare: MODEL is missing; without = it is the same model");
        a->compares = true;
        a->compare_with = text;
        return 0;
    case KEY_LOSS_ONLY: a->loss_only = true; return 0; /* all that a language model gives */
    case CLI_KEY_QUIET: a->quiet = true; return 0;
    case CLI_KEY_JSON: a->json = true; return 0;
    case CLI_KEY_CONTEXT: a->context = cli_integer(text, 1, CLI_MAX, a->for_text = "context", state); return 0;
    case ARGP_KEY_ARGS: cmd_eval_take_paths(a, state); return 0;
    case ARGP_KEY_NO_ARGS: cmd_eval_take_paths(a, state); return 0;
    default: return parse_for_pairs(key, text, state);
    }
}

static const struct argp ARGP = {
    .options = OPTIONS, .parser = cmd_eval_parse, .args_doc = "MODEL FILE...",
    .doc = "Evaluate a translation model on validation or test sets of SOURCE<tab>TARGET lines, or a language model on texts."
           "\vSentence pairs: loss in nats per target token, <eos> included; pairs beyond the maximum length are truncated as in "
           "training. BLEU and chrF are sacreBLEU's, against the targets as they are in the file; Chinese targets are tokenized "
           "as zh, other languages without spaces as char, all others as 13a.\n\n"
           "Texts: loss in nats per token, perplexity, and bits per byte, over the whole file in consecutive windows of the "
           "context length; every token except the first counts once, and so do the bytes of these tokens."};

rapt_code eval_files(eval_arguments *a, rapt_model *m, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; !code && i < a->file_count; i++)
        code = (m->task == RAPT_TASK_LANGUAGE_MODEL ? eval_text : eval_pairs)(a, m, a->files[i], err);
    return code;
}

int cmd_eval(int argc, char **argv)
{
    eval_arguments a = {.tokenize = EVAL_BY_SCRIPT};
    rapt_error err = {0};
    cli_parse(&ARGP, argc, argv, &a);
    cli_warn_threads(a.o.threads, a.quiet);
    rapt_model *m = cli_model_adapted(a.model, a.adapter, true, &err);
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
