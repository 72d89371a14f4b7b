/* cli/cmd_generate.c: `rapt generate`: options, the prompt, and text to stdout as it is generated, by a
 * rapt_generator; --at is in generate_at.c. */
#define _GNU_SOURCE
#include "cli/cli.h"
#include "cli/cli_model.h"
#include "cli/cmd_generate.h"
#include "cli/signals.h"

#include "base/clock.h"
#include "base/file.h"
#include "decode/prompt.h"
#include "decode/valid_text.h"
#include "text/json_text.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { KEY_PROMPT = 256, KEY_PROMPT_FILE, KEY_MAX_TOKENS, KEY_TEMPERATURE, KEY_TOP_K, KEY_TOP_P, KEY_PENALTY, KEY_WINDOW,
       KEY_GREEDY, KEY_STOP, KEY_SAMPLES, KEY_NO_PROMPT, KEY_AT, KEY_TOP, KEY_STRICT, KEY_MIN_P, KEY_BIAS, KEY_RANDOM_SEED,
       KEY_BEAM };

static const struct argp_option OPTIONS[] = {
    {"prompt", KEY_PROMPT, "TEXT", 0, "Prompt text, like the operand PROMPT; special tokens in it are encoded as such", 0},
    {"prompt-file", KEY_PROMPT_FILE, "FILE", 0, "Prompt from a file; - is standard input", 0},
    {"max-tokens", KEY_MAX_TOKENS, "N", 0, "Maximum number of new tokens (default 200)", 0},
    {"beam", KEY_BEAM, "N", 0, "Beam search for the text of the highest score, over N hypotheses, instead of sampling (default "
     "1: none)", 0},
    {"temperature", KEY_TEMPERATURE, "T", 0, "Softmax temperature (default 0.8): 1 leaves the model's distribution unchanged, "
     "lower sharpens it, higher flattens it; 0: greedy", 0},
    {"greedy", KEY_GREEDY, NULL, 0, "Always the most probable token: --temperature 0", 0},
    {"top-k", KEY_TOP_K, "K", 0, "Sample from the K most probable tokens only (default 200); 0: all", 0},
    {"top-p", KEY_TOP_P, "P", 0, "Nucleus sampling: sample from the most probable tokens that add up to probability P, after "
     "--top-k; 0 or 1: all (default)", 0},
    {"min-p", KEY_MIN_P, "P", 0, "Sample only from tokens with at least P times the probability of the most probable one, after "
     "--top-p; 0: all (default)", 0},
    {"logit-bias", KEY_BIAS, "ID:BIAS", 0, "Add BIAS to the logit of token ID; -inf excludes it; can be repeated", 0},
    {"repetition-penalty", KEY_PENALTY, "R", 0, "Above 1 makes tokens that occurred before less likely: positive logits / R, "
     "negative * R; 1: off (default); 0.001 to 1000", 0},
    {"repetition-window", KEY_WINDOW, "N", 0, "The penalty applies to the last N tokens; 0: to the whole context "
     "(default)", 0},
    CLI_OPTION_SEED("Random seed: the same seed, prompt and options give the same text, on any machine, with any number of "
                    "threads (default 1)"),
    {"random-seed", KEY_RANDOM_SEED, NULL, 0, "A random seed from the system, which stderr (and --json) prints", 0},
    {"stop", KEY_STOP, "TEXT", 0, "Stop sequence: end the text before TEXT, which is not printed; can be repeated", 0},
    {"samples", KEY_SAMPLES, "N", 0, "Number of independent samples, with a line ---- between them (default 1)", 0},
    {"no-prompt", KEY_NO_PROMPT, NULL, 0, "Don't print the prompt before the text", 0},
    {"at", KEY_AT, "POSITION", 0, "Print next-token probabilities after this token of the prompt instead of text; counted "
     "from 0, or with -1 from its end; all: after each", 0},
    {"top", KEY_TOP, "N", 0, "Number of tokens that --at prints (default 5)", 0},
    CLI_OPTION_CONTEXT("See at most the last N tokens (default: the model's context), which bounds the memory of the KV cache"),
    CLI_OPTION_PRECISION("Matmul precision: fp32 (default) or bf16"),
    CLI_OPTION_THREADS,
    CLI_OPTION_JSON("Print a JSON object for each sample, when it is complete"),
    {"strict", KEY_STRICT, NULL, 0, "A prompt that is longer than the model's context is an error", 0},
    CLI_OPTION_QUIET("No throughput and no warnings on stderr"),
    {0}};

static void take_stop(generate_arguments *a, const char *text, struct argp_state *state)
{
    if (a->o.stop_count == GENERATE_MAX_STOPS)
        cli_usage_error(state, "more than %d --stop", GENERATE_MAX_STOPS);
    if (!*text)
        cli_usage_error(state, "--stop: the stop sequence is empty");
    a->stops[a->o.stop_count++] = text;
}

static void take_bias(generate_arguments *a, const char *text, struct argp_state *state)
{
    char id[32];
    const char *colon = strchr(text, ':');
    if (a->o.sample.bias_count == GENERATE_MAX_BIASES)
        cli_usage_error(state, "more than %d --logit-bias", GENERATE_MAX_BIASES);
    if (!colon || (size_t)(colon - text) >= sizeof id)
        cli_usage_error(state, "--logit-bias: '%s' is not ID:BIAS", text);
    snprintf(id, sizeof id, "%.*s", (int)(colon - text), text);
    rapt_logit_bias *bias = &a->biases[a->o.sample.bias_count++];
    bias->id = (int32_t)cli_integer(id, 0, INT32_MAX, "logit-bias", state);
    bias->bias = strcmp(colon + 1, "-inf") == 0 ? -INFINITY : cli_number(colon + 1, -1e6, 1e6, "logit-bias", state);
}

/* Not above what --seed takes. */
static uint64_t random_seed(struct argp_state *state)
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        cli_usage_error(state, "--random-seed: the system has no random numbers");
    return seed % CLI_MAX;
}

static bool asks_for_sampling(const generate_arguments *a)
{
    const rapt_sample_options *s = &a->o.sample;
    return s->greedy || s->temperature != 0 || s->top_k != 0 || s->top_p != 0 || s->min_p != 0 || a->samples > 1;
}

static void cmd_generate_check(generate_arguments *a, struct argp_state *state)
{
    if (!a->model)
        cli_usage_error(state, "missing operand: MODEL");
    if (!!a->operand + !!a->prompt + !!a->prompt_file > 1)
        cli_usage_error(state, "one prompt only: as an argument, by --prompt or by --prompt-file");
    a->prompt = a->prompt ? a->prompt : a->operand;
    if (a->top && !a->has_at)
        cli_usage_error(state, "--top needs --at");
    if (a->o.beam > 1 && asks_for_sampling(a))
        cli_usage_error(state, "--beam does not sample: not with --temperature, --greedy, --top-k, --top-p, --min-p, --samples");
    if (a->samples > 1)
        a->o.beam = 1;
    if (a->random_seed && a->has_seed)
        cli_usage_error(state, "--seed or --random-seed, not both");
    if (a->random_seed)
        a->seed = random_seed(state);
    a->o.sample.seed = a->seed ? a->seed : RAPT_SAMPLE_SEED_0;
    a->o.sample.biases = a->biases;
    a->o.stops = a->stops;
    a->o.max_tokens = (size_t)a->max_tokens;
}

static void take_at(generate_arguments *a, const char *text, struct argp_state *state)
{
    a->at_all = strcmp(text, "all") == 0;
    a->at = a->at_all ? 0 : cli_integer(text, -CLI_MAX, CLI_MAX, "at", state);
    a->has_at = true;
}

/* 0 is greedy here, and the default in the library. */
static void take_temperature(generate_arguments *a, const char *text, struct argp_state *state)
{
    a->o.sample.temperature = cli_number(text, 0, 1e6, "temperature", state);
    a->o.sample.greedy = a->greedy || a->o.sample.temperature == 0;
}

static void take_top_k(generate_arguments *a, const char *text, struct argp_state *state)
{
    long k = cli_integer(text, 0, CLI_MAX, "top-k", state);
    a->o.sample.top_k = k ? (size_t)k : RAPT_TOP_K_ALL;
}

/* In the library 0 stands for the default. */
static void take_top_p(generate_arguments *a, const char *text, struct argp_state *state)
{
    double p = cli_number(text, 0, 1, "top-p", state);
    a->o.sample.top_p = p == 0 ? 1 : p;
}

static error_t cmd_generate_parse(int key, char *text, struct argp_state *state)
{
    generate_arguments *a = state->input;
    rapt_sample_options *s = &a->o.sample;
    switch (key) {
    case KEY_PROMPT: a->prompt = text; return 0;
    case KEY_PROMPT_FILE: a->prompt_file = text; return 0;
    case KEY_MAX_TOKENS: a->max_tokens = cli_integer(text, 0, CLI_MAX, "max-tokens", state); return 0;
    case KEY_TEMPERATURE: take_temperature(a, text, state); return 0;
    case KEY_BEAM: a->o.beam = (size_t)cli_integer(text, 1, 1024, "beam", state); return 0;
    case KEY_GREEDY: a->greedy = s->greedy = true; return 0;
    case KEY_TOP_K: take_top_k(a, text, state); return 0;
    case KEY_TOP_P: take_top_p(a, text, state); return 0;
    case KEY_MIN_P: s->min_p = cli_number(text, 0, 1, "min-p", state); return 0;
    case KEY_BIAS: take_bias(a, text, state); return 0;
    case KEY_RANDOM_SEED: a->random_seed = true; return 0;
    case KEY_PENALTY: s->repetition_penalty = cli_number(text, 0.001, 1000, "repetition-penalty", state); return 0;
    case KEY_WINDOW: s->repetition_window = (size_t)cli_integer(text, 0, CLI_MAX, "repetition-window", state); return 0;
    case CLI_KEY_SEED:
        a->seed = (uint64_t)cli_seed(text, state);
        a->has_seed = true;
        return 0;
    case KEY_STOP: take_stop(a, text, state); return 0;
    case KEY_SAMPLES: a->samples = cli_integer(text, 1, CLI_MAX, "samples", state); return 0;
    case KEY_NO_PROMPT: a->no_prompt = true; return 0;
    case KEY_AT: take_at(a, text, state); return 0;
    case KEY_TOP: a->top = cli_integer(text, 1, CLI_MAX, "top", state); return 0;
    case CLI_KEY_CONTEXT: a->context = cli_integer(text, 1, CLI_MAX, "context", state); return 0;
    case CLI_KEY_PRECISION: a->o.precision = cli_precision(text, state); return 0;
    case CLI_KEY_THREADS: a->o.threads = cli_threads(text, state); return 0;
    case CLI_KEY_JSON: a->json = true; return 0;
    case KEY_STRICT: a->strict = true; return 0;
    case CLI_KEY_QUIET: a->quiet = true; return 0;
    case ARGP_KEY_ARG:
        cli_operand(a->model ? &a->operand : &a->model, text, "a model and one prompt; quote a prompt of several words", state);
        return 0;
    case ARGP_KEY_END: cmd_generate_check(a, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp ARGP = {
    .options = OPTIONS, .parser = cmd_generate_parse, .args_doc = "MODEL [PROMPT]",
    .doc = "Generate text from a prompt (completion) with a trained language model."
           "\vThe prompt and its continuation are streamed to stdout, with a newline at the end. The text ends after "
           "--max-tokens, before a --stop sequence, at the end-of-text token (<|endoftext|>), and at Ctrl-C (exit status 130). "
           "Without a prompt a new text is generated, if the model has <|endoftext|>. Of a Hugging Face folder the "
           "defaults of --beam, of the sampling options and of --repetition-penalty are those of its generation_config.json, "
           "which can also exclude and force tokens."};

/* ---- texts ---------------------------------------------------------------------------------------------------- */

/* A text that is being generated. */
typedef struct output {
    const generate_arguments *a;
    generate_prompt prompt;
    uint64_t sample;
    bool begun; /* the prompt is on stdout */
} output;

/* No message here: every command reports at exit what could not be written. */
static rapt_code write_out(const char *text, size_t size)
{
    return fwrite(text, 1, size, stdout) == size && fflush(stdout) == 0 ? RAPT_OK : RAPT_ERR_IO;
}

/* Prints the separator and the prompt, before the first output of a sample. */
static rapt_code begin_text(output *out)
{
    bool echo = !out->a->no_prompt, first = !out->begun;
    out->begun = true;
    if (first && out->sample > 0 && write_out("----\n", 5))
        return RAPT_ERR_IO;
    return first && echo ? write_out(out->prompt.text, out->prompt.size) : RAPT_OK;
}

/* A rapt_text_fn. --json prints a text when it is complete. */
static rapt_code stream_text(void *context, const char *text, size_t size, rapt_error *err)
{
    (void)err;
    if (signals_stop(NULL))
        return RAPT_ERR_INTERRUPTED;
    if (((const output *)context)->a->json)
        return RAPT_OK;
    return begin_text(context) ? RAPT_ERR_IO : write_out(text, size);
}

/* The end of a text that was streamed. */
static rapt_code end_text(output *out, rapt_code code)
{
    if ((code == RAPT_OK || code == RAPT_ERR_INTERRUPTED) && begin_text(out))
        code = RAPT_ERR_IO;
    return out->begun && write_out("\n", 1) ? RAPT_ERR_IO : code;
}

/* ---- as JSON -------------------------------------------------------------------------------------------------- */

static json_t *generated_json(const output *out, const rapt_generated *g)
{
    static const char *const ends[] = {[RAPT_FINISH_NONE] = "interrupted", [RAPT_FINISH_LENGTH] = "length",
                                       [RAPT_FINISH_STOP] = "stop", [RAPT_FINISH_END_OF_TEXT] = "end_of_text"};
    size_t length;
    char *valid = valid_text(out->prompt.text, out->prompt.size, &length, NULL);
    json_t *o = NULL;
    if (valid)
        o = json_pack("{s:I, s:I, s:s%, s:s%, s:I, s:I, s:s}", "sample", (json_int_t)out->sample, "seed",
                      (json_int_t)out->a->seed, "prompt", valid, length, "text", g->text ? g->text : "",
                      g->text_size, "prompt_tokens", (json_int_t)g->prompt_tokens,
                      "tokens", (json_int_t)g->token_count, "end", ends[g->finish]);
    free(valid);
    if (o && g->score != 0)
        json_object_set_new(o, "score", json_real(g->score));
    return o;
}

static rapt_code print_generated_json(const output *out, const rapt_generated *g, rapt_error *err)
{
    json_t *o = generated_json(out, g);
    char *line = json_text(o, 0);
    rapt_code code = line ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a text");
    if (line && (puts(line) < 0 || fflush(stdout) != 0))
        code = RAPT_ERR_IO;
    free(line);
    json_decref(o);
    return code;
}

/* ---- the command ---------------------------------------------------------------------------------------------- */

/* Generates and prints one sample; the generator is back at the end of the prompt afterwards. */
static rapt_code print_sample(rapt_generator *g, output *out, size_t *tokens, rapt_error *err)
{
    rapt_generated result = {.prompt_tokens = rapt_generator_tokens(g), .finish = RAPT_FINISH_LENGTH, .text = NULL};
    rapt_code code = RAPT_OK;
    if (out->a->max_tokens > 0)
        code = rapt_generator_run(g, out->sample, &result, err);
    *tokens += result.token_count;
    if (!out->a->json)
        code = end_text(out, code);
    else if ((!code || code == RAPT_ERR_INTERRUPTED) && print_generated_json(out, &result, err))
        code = RAPT_ERR_IO;
    if (!code)
        code = rapt_generator_rewind(g, result.prompt_tokens, err);
    rapt_generated_free(&result);
    return code;
}

static rapt_code print_texts(const generate_arguments *a, rapt_generator *g, output *out, rapt_error *err)
{
    size_t tokens = 0;
    double start = clock_seconds();
    if (a->random_seed && !a->quiet)
        fprintf(stderr, "seed %llu\n", (unsigned long long)a->seed);
    signals_catch();
    rapt_code code = rapt_generator_begin(g, out->prompt.text, out->prompt.size, err);
    for (long i = 0; i < a->samples && !code; i++) {
        *out = (output){.a = a, .prompt = out->prompt, .sample = (uint64_t)i};
        code = print_sample(g, out, &tokens, err);
    }
    double seconds = clock_seconds() - start;
    if (!a->quiet && (!code || code == RAPT_ERR_INTERRUPTED))
        fprintf(stderr, "%zu token%s in %.2f s: %.1f tokens/s\n", tokens, cli_plural(tokens), seconds,
                seconds > 0 ? (double)tokens / seconds : 0);
    return code;
}

static rapt_code read_prompt(const generate_arguments *a, char **text, generate_prompt *p, rapt_error *err)
{
    *text = NULL;
    *p = (generate_prompt){a->prompt ? a->prompt : "", a->prompt ? strlen(a->prompt) : 0};
    if (!a->prompt_file)
        return RAPT_OK;
    rapt_code code = file_read(a->prompt_file, CLI_MAX_TEXT, text, &p->size, err);
    p->text = *text;
    return code;
}

/* Of a prompt longer than the context the model sees the end only. */
static rapt_code check_context(const generate_arguments *a, const rapt_model *m, generate_prompt given, rapt_error *err)
{
    prompt p;
    if (a->quiet && !a->strict)
        return RAPT_OK;
    rapt_code code = prompt_encode(m, given.text, given.size, &p, err);
    if (code)
        return code;
    size_t count = p.count, context = m->language.net->config.context;
    free(p.ids);
    if (count <= context)
        return RAPT_OK;
    if (a->strict)
        return rapt_fail(err, RAPT_ERR_VALUE, "the prompt has %zu tokens, the model's context %zu", count, context);
    fprintf(stderr, "rapt: warning: the prompt has %zu tokens, the model's context %zu: the model sees the last %zu\n", count,
            context, rapt_lm_visible(&m->language.net->config, count));
    return RAPT_OK;
}

static rapt_code generate(const generate_arguments *a, const rapt_model *m, rapt_error *err)
{
    char *text;
    output out = {.a = a};
    rapt_generate_options o = a->o;
    o.on_text = stream_text;
    o.context = &out;
    rapt_code code = read_prompt(a, &text, &out.prompt, err);
    if (code)
        return code;
    rapt_generator *g = rapt_generator_new(m, &o, err);
    code = g ? check_context(a, m, out.prompt, err) : err->code;
    if (!code)
        code = a->has_at ? generate_at(a, g, m, out.prompt, err) : print_texts(a, g, &out, err);
    rapt_generator_free(g);
    free(text);
    return code;
}

int cmd_generate(int argc, char **argv)
{
    generate_arguments a = {.max_tokens = RAPT_GENERATE_TOKENS, .seed = 1, .samples = 1};
    rapt_error err = {0};
    cli_parse(&ARGP, argc, argv, &a);
    cli_warn_threads(a.o.threads, a.quiet);
    rapt_model *m = cli_model_inference(a.model, RAPT_TASK_LANGUAGE_MODEL, &err);
    if (m)
        cli_model_limit_context(m, a.context);
    rapt_code code = m ? generate(&a, m, &err) : RAPT_ERR_IO;
    rapt_model_free(m);
    if (code == RAPT_ERR_INTERRUPTED)
        return signals_status();
    return code && err.code ? cli_fail(&err) : code != RAPT_OK;
}
