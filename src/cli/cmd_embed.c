/* cli/cmd_embed.c: `rapt embed`: lines in, vectors out, block by block as `rapt translate` reads them. */
#include "cli/cli.h"
#include "cli/commands.h"

#include "cli/cli_model.h"
#include "cli/say.h"
#include "cli/vectors_out.h"
#include "io/model_core.h"
#include "rapt/embed.h"
#include "text/line_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Batches of lines that are sorted by length together. */
#define BLOCK_BATCHES 64

typedef struct embed_arguments {
    const char *model, *file, *text;
    rapt_embedder_options o;
    vectors_format format;
    bool normalize, no_normalize, quiet;
    size_t most; /* tokens that the model takes; 0 once a warning has said so */
} embed_arguments;

#define ARGUMENTS embed_arguments
static const cli_option OPTIONS[] = {
    OPTION_TEXT("text", "TEXT", AT(text), "This text, in place of FILE"),
    OPTION_WORD("format", "F", AT(format), VECTORS_TEXT, "text, jsonl, npy",
                "text: a line of numbers for each line (default); jsonl: {\"embedding\": [...]}; npy: a float32 array of NumPy, "
                "[lines, features]"),
    OPTION_WORD("pooling", "P", AT(o.pooling), RAPT_POOLING_MEAN, "mean, cls, max",
                "The vector of a text from the vectors of its tokens: their mean (mean), the first token's (cls), or the maximum "
                "of each feature (max); default: the folder's, or mean"),
    OPTION_FLAG("normalize", AT(normalize), "Divide each vector by its Euclidean norm (default: as the folder says)",
                .not_with = "no-normalize"),
    OPTION_FLAG("no-normalize", AT(no_normalize), "Do not"),
    OPTION_COUNT("dimensions", "N", AT(o.dimensions), 1, 1 << 20, "Keep the first N features of each vector, before it is "
                 "normalized: for models that were trained for it (Matryoshka)"),
    OPTION_TEXT("prompt", "NAME", AT(o.prompt), "Put this prompt of the folder (query, passage, ...) before each line; none: no "
                "prompt (default: as the folder says)"),
    OPTION_COUNT("batch", "N", AT(o.batch), 1, 65536, "Batch size in lines (default 32); the result does not depend on it"),
    CLI_OPTION_PRECISION(AT(o.compute.type), CLI_PRECISION),
    CLI_OPTION_WEIGHTS(AT(o.compute.weights), AT(o.compute.type), CLI_WEIGHTS),
    CLI_OPTION_THREADS(AT(o.compute.threads)),
    OPTION_FLAG("quiet", AT(quiet), "No warnings"),
    {0}};

static void cmd_embed_finish(void *arguments)
{
    embed_arguments *a = arguments;
    if (a->text)
        cli_check_text(a->text, a->file);
    if (a->normalize || a->no_normalize)
        a->o.normalize = a->normalize;
    if (a->o.prompt && strcmp(a->o.prompt, "none") == 0)
        a->o.prompt = "";
}

const cli_command embed_command = {
    .options = OPTIONS, .operands = "MODEL [FILE]",
    .about = "Write a vector for each line of FILE, or of standard input, with an encoder of a Hugging Face folder (BERT, "
             "RoBERTa, DistilBERT).",
    .least = 1, .missing = "MODEL", .most = 2, .takes = "a model and one file", .operand = {AT(model), AT(file)},
    .finish = cmd_embed_finish};

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
    const size_t max_lines = a->o.batch * BLOCK_BATCHES;
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
    embed_arguments a = {.o = rapt_embedder_options_default()};
    rapt_error err = {0};
    options_parse(&embed_command, argc, argv, &a);
    cli_warn_threads(a.o.compute.threads, a.quiet);
    rapt_model *m = cli_model_inference(a.model, NULL, RAPT_TASK_ENCODER, &err);
    rapt_embedder *e = m ? rapt_embedder_new(m, &a.o, &err) : NULL;
    rapt_code code = e ? RAPT_OK : err.code;
    if (e) {
        vectors_out out = {.format = a.format, .d = rapt_embedder_features(e)};
        a.most = m->encoder.max_len;
        const rapt_text line = rapt_text_of(a.text);
        code = a.text ? embed_block(&a, e, &(line_block){&line, 1, 1}, &out, &err) : embed_stream(&a, e, &out, &err);
        code = vectors_out_end(&out, code, &err);
    }
    rapt_embedder_free(e);
    rapt_model_free(m);
    return code ? cli_fail(&err) : 0;
}
