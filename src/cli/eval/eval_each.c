/* cli/eval/eval_each.c: `rapt eval --each`: the log-probability of each pair, a line of output for each line of the file. For
 * filters of corpora, which put the two side by side. */
#include "cli/cli.h"
#include "cli/eval/cmd_eval.h"

#include "base/memory_stream.h"
#include "cli/lines_out.h"
#include "cli/translation_out.h"
#include "data/pairs.h"
#include "io/model_core.h"
#include "rapt/score.h"
#include "text/json_text.h"

#include <math.h>
#include <stdlib.h>

#define BLOCK ((size_t)1 << 16) /* bytes that are printed together, or a few more */

/* A pair, or a line that has none: count 0. */
typedef struct each_pair {
    const rapt_tokenizer *k; /* of the targets */
    size_t line;
    const int32_t *ids;      /* [count] with <eos>, unless the target is truncated */
    const double *log_probs; /* [count] */
    size_t count;
    double sum;
} each_pair;

static each_pair each_pair_at(const rapt_model *m, const rapt_pair_scores *scores, size_t i, size_t line)
{
    const size_t at = scores->begins[i];
    each_pair p = {m->translation.target, line, scores->tokens + at, scores->log_probs + at, scores->begins[i + 1] - at, 0};
    for (size_t t = 0; t < p.count; t++)
        p.sum += p.log_probs[t];
    return p;
}

static bool each_print_tokens(const each_pair *p, FILE *to)
{
    bool ok = alignment_print_names(p->k, p->ids, p->count, to);
    for (size_t t = 0; t < p->count && ok; t++)
        ok = fprintf(to, "%s%.6f", t ? " " : "\t", p->log_probs[t]) > 0;
    return ok && (p->count || fputc('\t', to) != EOF);
}

static bool each_print_text(const each_pair *p, bool tokens, FILE *to)
{
    bool ok = p->count ? fprintf(to, "%.6f\t%.6f\t%zu", p->sum, p->sum / (double)p->count, p->count) > 0
                       : fputs("nan\tnan\t0", to) >= 0;
    return ok && (!tokens || each_print_tokens(p, to)) && fputc('\n', to) != EOF;
}

static json_t *each_number(const each_pair *p, double value)
{
    return p->count && isfinite(value) ? json_real(value) : json_null();
}

static bool each_print_json(const each_pair *p, bool tokens, FILE *to)
{
    json_t *o = json_pack("{s:I, s:o, s:o, s:I}", "line", (json_int_t)p->line, "log_prob", each_number(p, p->sum),
                          "mean_log_prob", each_number(p, p->sum / (double)p->count), "token_count", (json_int_t)p->count);
    bool ok = o != NULL;
    if (ok && tokens)
        ok = json_object_set_new(o, "tokens", tokens_json(p->k, p->ids, p->count)) == 0 &&
             json_object_set_new(o, "token_log_probs", log_probs_json(p->log_probs, p->count)) == 0;
    char *text = ok ? json_text(o, JSON_COMPACT) : NULL;
    ok = text && fprintf(to, "%s\n", text) > 0;
    free(text);
    json_decref(o);
    return ok;
}

/* Prints from pair *next on, and the lines before each that have none, until a block is full or the file ends. */
static bool each_print_some(const eval_arguments *a, const rapt_model *m, const rapt_pairs *pairs, const rapt_pair_scores *scores,
                            size_t *next, size_t *line, FILE *to)
{
    bool ok = true;
    while (ok && *line <= pairs_lines(pairs) && ftell(to) < (long)BLOCK) {
        each_pair p = {.k = m->translation.target, .line = *line};
        if (*next < scores->count && rapt_pairs_line(pairs, *next) == *line) {
            p = each_pair_at(m, scores, *next, *line);
            ++*next;
        }
        ok = a->json ? each_print_json(&p, a->tokens, to) : each_print_text(&p, a->tokens, to);
        ++*line;
    }
    return ok;
}

static rapt_code each_print(const eval_arguments *a, const rapt_model *m, const rapt_pairs *pairs, const rapt_pair_scores *scores,
                            rapt_error *err)
{
    size_t next = 0, line = 1;
    rapt_code code = RAPT_OK;
    while (!code && line <= pairs_lines(pairs)) {
        memory_stream text = {0};
        FILE *to = memory_stream_open(&text);
        const bool ok = to && each_print_some(a, m, pairs, scores, &next, &line, to);
        if (memory_stream_close(&text) && ok)
            code = lines_out(text.text, text.size, err);
        else
            code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the text");
        free(text.text);
    }
    return code;
}

rapt_code eval_each(const eval_arguments *a, const rapt_model *m, const rapt_pairs *pairs, rapt_error *err)
{
    const rapt_score_options o = {.size = sizeof o, .compute = a->o.compute, .strict = a->strict};
    rapt_pair_scores scores;
    rapt_code code = rapt_score_each_pair(m, pairs, &o, &scores, err);
    code = code ? code : each_print(a, m, pairs, &scores, err);
    rapt_pair_scores_free(&scores);
    return code;
}
