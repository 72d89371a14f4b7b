/* cli/cmd_rerank.c: `rapt rerank`: the lines of a text by how well they answer a query, or scores of pairs of texts, a line
 * each. */
#include "cli/cli.h"
#include "cli/commands.h"

#include "base/memory_stream.h"
#include "cli/cli_model.h"
#include "cli/lines_out.h"
#include "cli/say.h"
#include "io/model_core.h"
#include "rapt/rerank.h"
#include "text/json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BATCHES = 64 }; /* batches of pairs that are sorted by length together */

typedef struct rerank_arguments {
    const char *model, *file, *query;
    rapt_reranker_options o;
    size_t top; /* 0: all */
    bool pairs, json, quiet;
    bool warned; /* about a pair that was cut */
    size_t most; /* tokens that the model takes */
} rerank_arguments;

#define ARGUMENTS rerank_arguments
static const cli_option OPTIONS[] = {
    OPTION_TEXT("query", "TEXT", AT(query), "Rank the lines of FILE by how well they answer this text", .not_with = "pairs"),
    OPTION_FLAG("pairs", AT(pairs), "Score the two texts of each line of FILE, with a tab between them, in the order of lines"),
    OPTION_COUNT("top", "N", AT(top), 1, 1 << 30, "Only the first N lines of the ranking", .not_with = "pairs"),
    OPTION_FLAG("json", AT(json), "A JSON object for each line, with its score and the logit that it comes from"),
    OPTION_COUNT("batch", "N", AT(o.batch), 1, 65536, "Batch size in pairs (default 32); the result does not depend on it"),
    CLI_OPTION_PRECISION(AT(o.compute.type), CLI_PRECISION),
    CLI_OPTION_WEIGHTS(AT(o.compute.weights), AT(o.compute.type), CLI_WEIGHTS),
    CLI_OPTION_THREADS(AT(o.compute.threads)),
    OPTION_FLAG("quiet", AT(quiet), "No warnings"),
    {0}};

static void cmd_rerank_finish(void *arguments)
{
    const rerank_arguments *a = arguments;
    if (!a->query && !a->pairs)
        usage_error("--query TEXT, or --pairs: what is to be scored?");
}

const cli_command rerank_command = {
    .options = OPTIONS, .operands = "MODEL [FILE]",
    .about = "Rank the lines of FILE, or of standard input, by how well they answer a query, with a cross-encoder of a Hugging "
             "Face folder (ms-marco-MiniLM, bge-reranker).",
    .notes = "Prints a line for each: its score, its number, and its text, with tabs between them, the best first. With --pairs "
             "the score alone.",
    .least = 1, .missing = "MODEL", .most = 2, .takes = "a model and one file", .operand = {AT(model), AT(file)},
    .finish = cmd_rerank_finish};

static const char *rerank_input_name(const rerank_arguments *a)
{
    return a->file && strcmp(a->file, "-") != 0 ? a->file : "standard input";
}

/* ---- scores ------------------------------------------------------------------------------------------------------------- */

/* The two texts of a line. */
static rapt_code split_pair(const rerank_arguments *a, rapt_text line, size_t number, rapt_text_pair *pair, rapt_error *err)
{
    const char *tab = line.size ? memchr(line.data, '\t', line.size) : NULL;
    const size_t first = tab ? (size_t)(tab - line.data) : 0;
    if (!tab || memchr(tab + 1, '\t', line.size - first - 1))
        return rapt_fail(err, RAPT_ERR_FORMAT, "%.200s:%zu: %s tab; two texts with one tab between them are expected",
                         rerank_input_name(a), number, tab ? "a second" : "no");
    *pair = (rapt_text_pair){{line.data, first}, {tab + 1, line.size - first - 1}};
    return RAPT_OK;
}

/* Warns about the first pair that was cut, and only once. */
static void rerank_warn(rerank_arguments *a, const rapt_pair_score *scores, size_t count, size_t first)
{
    for (size_t i = 0; i < count && !a->warned && !a->quiet; i++) {
        if (!scores[i].cut)
            continue;
        cli_say("rapt: %s:%zu: warning: both texts have more than the %zu tokens that the model takes; the rest is left out, "
                "here and in other such lines\n", rerank_input_name(a), first + i, a->most);
        a->warned = true;
    }
}

/* scores[count] of lines, of which the first one has the number `first`. */
static rapt_code rerank_score(rerank_arguments *a, rapt_reranker *r, const rapt_text *lines, size_t count, size_t first,
                              rapt_pair_score *scores, rapt_error *err)
{
    rapt_error why = {0};
    rapt_text_pair *pairs = malloc((count + 1) * sizeof *pairs);
    rapt_code code = pairs ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu lines", count);
    for (size_t i = 0; i < count && !code; i++) {
        pairs[i] = (rapt_text_pair){rapt_text_of(a->query), lines[i]};
        if (a->pairs)
            code = split_pair(a, lines[i], first + i, &pairs[i], err);
    }
    if (!code && (code = rapt_reranker_run(r, pairs, count, scores, &why)))
        rapt_fail(err, code, "cannot score lines %zu to %zu of %.200s: %s", first, first + count - 1, rerank_input_name(a),
                  why.message);
    if (!code)
        rerank_warn(a, scores, count, first);
    free(pairs);
    return code;
}

/* ---- output ------------------------------------------------------------------------------------------------------------- */

/* A line for a score; `text` NULL: for a pair. The texts of lines are UTF-8, and so are strings of JSON. */
static bool rerank_print(const rerank_arguments *a, const rapt_pair_score *s, size_t number, const rapt_text *text, FILE *to)
{
    if (!a->json && !text)
        return fprintf(to, "%.9g\n", (double)s->score) > 0;
    if (!a->json)
        return fprintf(to, "%.9g\t%zu\t", (double)s->score, number) > 0 && fwrite(text->data, 1, text->size, to) == text->size &&
               fputc('\n', to) != EOF;
    json_t *string = text ? json_stringn(text->data, text->size) : NULL;
    char *quoted = json_text(string, JSON_ENCODE_ANY | JSON_COMPACT);
    bool ok = !text || quoted;
    ok = ok && fprintf(to, "{\"line\": %zu, \"score\": %.9g, \"logit\": %.9g", number, (double)s->score, (double)s->logit) > 0;
    ok = ok && (!text || fprintf(to, ", \"text\": %s", quoted) > 0) && fputs("}\n", to) >= 0;
    free(quoted);
    json_decref(string);
    return ok;
}

/* `lines` NULL: for pairs. */
static rapt_code rerank_put(const rerank_arguments *a, const rapt_pair_score *scores, size_t count, size_t first,
                            const rapt_text *lines, rapt_error *err)
{
    memory_stream text = {0};
    bool ok = memory_stream_open(&text);
    for (size_t i = 0; i < count && ok; i++)
        ok = rerank_print(a, &scores[i], first + scores[i].index, lines ? &lines[scores[i].index] : NULL, text.to);
    ok = memory_stream_close(&text) && ok;
    rapt_code code = ok ? lines_out(text.text, text.size, err) : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the scores");
    free(text.text);
    return code;
}

/* ---- both ways ---------------------------------------------------------------------------------------------------------- */

static rapt_code rerank_pairs(rerank_arguments *a, rapt_reranker *r, rapt_error *err)
{
    line_stream *in = cli_open_lines(a->file, err);
    line_block block = {.count = 1};
    rapt_code code = in ? RAPT_OK : RAPT_ERR_IO;
    while (!code && block.count > 0) {
        code = line_stream_next(in, a->o.batch * BLOCK_BATCHES, &block, err);
        rapt_pair_score *scores = malloc((block.count + 1) * sizeof *scores);
        if (!code && !scores)
            code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu lines", block.count);
        if (!code && block.count > 0)
            code = rerank_score(a, r, block.line, block.count, block.first, scores, err);
        if (!code && block.count > 0)
            code = rerank_put(a, scores, block.count, block.first, NULL, err);
        free(scores);
    }
    line_stream_free(in);
    return code;
}

static rapt_code rerank_lines(rerank_arguments *a, rapt_reranker *r, const rapt_text *lines, size_t count, rapt_error *err)
{
    const size_t block = a->o.batch * BLOCK_BATCHES;
    rapt_pair_score *scores = malloc((count + 1) * sizeof *scores);
    rapt_code code = scores ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu lines", count);
    for (size_t i = 0; i < count && !code; i += block) {
        const size_t most = count - i < block ? count - i : block;
        code = rerank_score(a, r, lines + i, most, i + 1, scores + i, err);
        for (size_t j = 0; j < most; j++)
            scores[i + j].index = i + j;
    }
    if (!code) {
        rapt_pair_scores_rank(scores, count);
        code = rerank_put(a, scores, a->top && a->top < count ? a->top : count, 1, lines, err);
    }
    free(scores);
    return code;
}

static rapt_code rerank_query(rerank_arguments *a, rapt_reranker *r, rapt_error *err)
{
    struct lines in = {0};
    rapt_code code = lines_read(a->file ? a->file : "-", CLI_MAX_TEXT, &in, err);
    rapt_text *lines = code ? NULL : malloc((in.count + 1) * sizeof *lines);
    if (!code && !lines)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for %zu lines", in.count);
    for (size_t i = 0; i < in.count && lines; i++)
        lines[i] = (rapt_text){in.line[i], in.length[i]};
    code = code ? code : rerank_lines(a, r, lines, in.count, err);
    free(lines);
    lines_free(&in);
    return code;
}

int cmd_rerank(int argc, char **argv)
{
    rerank_arguments a = {.o = rapt_reranker_options_default()};
    rapt_error err = {0};
    options_parse(&rerank_command, argc, argv, &a);
    cli_warn_threads(a.o.compute.threads, a.quiet);
    rapt_model *m = cli_model_inference(a.model, NULL, RAPT_TASK_CROSS_ENCODER, &err);
    rapt_reranker *r = m ? rapt_reranker_new(m, &a.o, &err) : NULL;
    rapt_code code = r ? RAPT_OK : err.code;
    if (r) {
        a.most = m->encoder.max_len;
        code = (a.pairs ? rerank_pairs : rerank_query)(&a, r, &err);
    }
    rapt_reranker_free(r);
    rapt_model_free(m);
    return code ? cli_fail(&err) : 0;
}
