/* cli/cmd_embed.c: `rapt embed`: lines in, vectors out, block by block as `rapt translate` reads them. */
#include "cli/cli.h"

#include "cli/cli_model.h"
#include "cli/say.h"
#include "cli/vectors_out.h"
#include "rapt/embed.h"
#include "text/line_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Batches of lines that are sorted by length together. */
#define BLOCK_BATCHES 64

enum { KEY_TEXT = 256, KEY_FORMAT, KEY_POOLING, KEY_NORMALIZE, KEY_NO_NORMALIZE, KEY_PROMPT, KEY_BATCH };

static const struct argp_option OPTIONS[] = {
    {"text", KEY_TEXT, "TEXT", 0, "This text, in place of FILE", 0},
    {"format", KEY_FORMAT, "F", 0, "text: a line of numbers for each line (default); jsonl: {\"embedding\": [...]}; npy: a "
                                   "float32 array of NumPy, [lines, features]", 0},
    {"pooling", KEY_POOLING, "P", 0, "The vector of a text from the vectors of its tokens: their mean (mean), the first "
                                     "token's (cls), or the maximum of each feature (max); default: the folder's, or mean", 0},
    {"normalize", KEY_NORMALIZE, NULL, 0, "Divide each vector by its Euclidean norm (default: as the folder says)", 0},
    {"no-normalize", KEY_NO_NORMALIZE, NULL, 0, "Do not", 0},
    {"prompt", KEY_PROMPT, "NAME", 0, "Put this prompt of the folder (query, passage, ...) before each line; none: no prompt "
                                      "(default: as the folder says)", 0},
    {"batch", KEY_BATCH, "N", 0, "Batch size in lines (default 32); the result does not depend on it", 0},
    CLI_OPTION_PRECISION("Matmul precision: fp32 (default) or bf16"),
    CLI_OPTION_WEIGHTS,
    CLI_OPTION_THREADS,
    CLI_OPTION_QUIET("No warnings"),
    {0}};

typedef struct embed_arguments {
    const char *model, *file, *text;
    rapt_embedder_options o;
    vectors_format format;
    bool quiet;
    size_t most; /* tokens that the model takes; 0 once a warning has said so */
} embed_arguments;

/* The number of a word in a list that NULL ends. */
static int embed_word(const char *text, const char *const *words, const char *option, struct argp_state *state)
{
    char list[64];
    size_t used = 0;
    for (int i = 0; words[i]; i++) {
        if (strcmp(text, words[i]) == 0)
            return i;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", words[i]);
    }
    cli_usage_error(state, "--%s: '%s' is none of %s", option, text, list);
    return 0;
}

static void cmd_embed_check(const embed_arguments *a, struct argp_state *state)
{
    if (!a->model)
        cli_usage_error(state, "missing operand: MODEL");
    if (a->text)
        cli_check_text(a->text, a->file, state);
    if (a->o.normalize && a->o.no_normalize)
        cli_usage_error(state, "--normalize or --no-normalize, not both");
}

static error_t cmd_embed_parse(int key, char *text, struct argp_state *state)
{
    static const char *const formats[] = {[VECTORS_TEXT] = "text", [VECTORS_JSONL] = "jsonl", [VECTORS_NPY] = "npy", NULL};
    static const char *const poolings[] = {"mean", "cls", "max", NULL};
    embed_arguments *a = state->input;
    switch (key) {
    case KEY_TEXT: a->text = text; return 0;
    case KEY_FORMAT: a->format = (vectors_format)embed_word(text, formats, "format", state); return 0;
    case KEY_POOLING:
        a->o.pooling = (rapt_pooling)(RAPT_POOLING_MEAN + embed_word(text, poolings, "pooling", state));
        return 0;
    case KEY_NORMALIZE: a->o.normalize = true; return 0;
    case KEY_NO_NORMALIZE: a->o.no_normalize = true; return 0;
    case KEY_PROMPT: a->o.prompt = strcmp(text, "none") == 0 ? "" : text; return 0;
    case KEY_BATCH: a->o.batch = (size_t)cli_integer(text, 1, 65536, "batch", state); return 0;
    case CLI_KEY_PRECISION: a->o.precision = cli_precision(text, state); return 0;
    case CLI_KEY_WEIGHTS: a->o.weights = cli_weights(text, &a->o.precision, state); return 0;
    case CLI_KEY_THREADS: a->o.threads = cli_threads(text, state); return 0;
    case CLI_KEY_QUIET: a->quiet = true; return 0;
    case ARGP_KEY_ARG: cli_operand(a->model ? &a->file : &a->model, text, "a model and one file", state); return 0;
    case ARGP_KEY_END: cmd_embed_check(a, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp ARGP = {.options = OPTIONS, .parser = cmd_embed_parse, .args_doc = "MODEL [FILE]",
                                 .doc = "Write a vector for each line of FILE, or of standard input, with an encoder of a "
                                        "Hugging Face folder (BERT, RoBERTa, DistilBERT)."};

static const char *embed_input_name(const embed_arguments *a)
{
    return a->file && strcmp(a->file, "-") != 0 ? a->file : "standard input";
}

/* Warns about the first line that was cut, and only once. */
static void embed_warn(embed_arguments *a, const line_block *b, const bool *cut)
{
    for (size_t i = 0; i < b->count && a->most && !a->quiet; i++) {
        if (!cut[i])
            continue;
        cli_say("rapt: %s:%zu: warning: longer than the %zu tokens that the model takes; the rest is left out, here and "
                "in other such lines\n", a->text ? "--text" : embed_input_name(a), b->first + i, a->most);
        a->most = 0;
    }
}

static rapt_code embed_block(embed_arguments *a, rapt_embedder *e, const line_block *b, vectors_out *out, rapt_error *err)
{
    rapt_error why = {0};
    rapt_real *x = malloc(b->count * rapt_embedder_features(e) * sizeof *x);
    bool *cut = malloc(b->count * sizeof *cut);
    rapt_code code = x && cut ? rapt_embedder_run(e, b->line, b->count, x, cut, &why)
                              : rapt_fail(&why, RAPT_ERR_MEMORY, "out of memory");
    if (!code) {
        embed_warn(a, b, cut);
        code = vectors_out_put(out, x, b->count, &why);
    }
    free(x);
    free(cut);
    char to[32] = "";
    if (b->count > 1)
        snprintf(to, sizeof to, " to %zu", b->first + b->count - 1);
    return code ? rapt_fail(err, code, "cannot embed line%s %zu%s of %.200s: %s", cli_plural(b->count), b->first, to,
                            a->text ? "--text" : embed_input_name(a), why.message) : RAPT_OK;
}

static rapt_code embed_stream(embed_arguments *a, rapt_embedder *e, vectors_out *out, rapt_error *err)
{
    const size_t max_lines = (a->o.batch ? a->o.batch : RAPT_EMBED_BATCH) * BLOCK_BATCHES;
    line_stream *in = cli_open_lines(a->file, err);
    line_block block = {.count = 1};
    rapt_code code = in ? RAPT_OK : RAPT_ERR_IO;
    while (!code && block.count > 0) {
        code = line_stream_next(in, max_lines, &block, err);
        if (!code && block.count > 0)
            code = embed_block(a, e, &block, out, err);
    }
    line_stream_free(in);
    return code;
}

int cmd_embed(int argc, char **argv)
{
    embed_arguments a = {0};
    rapt_error err = {0};
    cli_parse(&ARGP, argc, argv, &a);
    cli_warn_threads(a.o.threads, a.quiet);
    rapt_model *m = cli_model_inference(a.model, NULL, RAPT_TASK_ENCODER, &err);
    rapt_embedder *e = m ? rapt_embedder_new(m, &a.o, &err) : NULL;
    rapt_code code = e ? RAPT_OK : err.code;
    if (e) {
        vectors_out out = {.format = a.format, .d = rapt_embedder_features(e)};
        a.most = m->encoder.max_len;
        code = a.text ? embed_block(&a, e, &(line_block){&a.text, 1, 1}, &out, &err) : embed_stream(&a, e, &out, &err);
        code = vectors_out_end(&out, code, &err);
    }
    rapt_embedder_free(e);
    rapt_model_free(m);
    return code ? cli_fail(&err) : 0;
}
