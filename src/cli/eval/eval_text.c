/* cli/eval/eval_text.c: `rapt eval` of a language model: loss, perplexity and bits per byte of whole texts. */
#define _GNU_SOURCE
#include "cli/cli.h"
#include "cli/eval/cmd_eval.h"
#include "cli/eval/eval_compare.h"
#include "cli/eval/eval_tape.h"
#include "cli/put_json.h"
#include "cli/say.h"

#include "data/tokens/token_file.h"
#include "nn/lm_core.h"
#include "text/text_in.h"
#include "text/tokenizer.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_IN_MEMORY ((off_t)64 << 20) /* bytes of a text; a longer text is tokenized into a temporary token file */
#define MAX_LOGITS ((size_t)16 << 20)   /* logits of a batch of windows */
#define MAX_ROWS 64

enum { IDS = 1024 }; /* compared at a time */

/* ---- the tokens ----------------------------------------------------------------------------------------------- */

/* Also for pipes and devices, which cannot be mapped. */
static rapt_token_file *tokens_in_memory(const rapt_tokenizer *k, const char *path, rapt_error *err)
{
    char *text;
    int32_t *ids = NULL;
    size_t size, count;
    rapt_error reason = {0};
    rapt_token_file *f = NULL;
    if (text_in_read(path, CLI_MAX_TEXT, &text, &size, err) != RAPT_OK)
        return NULL;
    if (text_in_check(path, text, size, &reason) != RAPT_OK)
        rapt_fail(err, reason.code, "%s", reason.message);
    else if (size == 0)
        rapt_fail(err, RAPT_ERR_FORMAT, "%s: the file is empty", path);
    else if (tokenizer_encode_within(k, text, size, true, &ids, &count, &reason) != RAPT_OK)
        rapt_fail(err, reason.code, "%s: %s", path, reason.message);
    else if (!(f = rapt_token_file_from_ids(ids, count, rapt_tokenizer_size(k), &reason)))
        rapt_fail(err, reason.code, "%s: %s", path, reason.message);
    free(ids);
    free(text);
    return f;
}

/* The file never gets its name: the mapping stays until it is closed. */
static rapt_token_file *make_tokens(const rapt_tokenizer *k, const char *text, const char *path, int threads, rapt_error *err)
{
    file_writer out;
    bool made;
    rapt_token_file *f = token_file_draft(k, (token_place){text, text}, path, (token_options){.threads = threads}, &out,
                                          &made, err);
    if (made)
        file_writer_discard(&out);
    return f;
}

static rapt_token_file *tokens_on_disk(const rapt_tokenizer *k, const char *text, int threads, rapt_error *err)
{
    char *folder, *path = NULL;
    rapt_token_file *f = NULL;
    if (file_make_temporary("eval", &folder, err) != RAPT_OK)
        return NULL;
    if ((path = file_join(folder, "text.tokens")))
        f = make_tokens(k, text, path, threads, err);
    if (!f)
        rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for its tokens", text);
    rmdir(folder);
    free(path);
    free(folder);
    return f;
}

static rapt_token_file *eval_text_read_tokens(const rapt_tokenizer *k, const char *path, int threads, rapt_error *err)
{
    struct stat s; /* if stat fails, reading reports why */
    bool large = stat(path, &s) == 0 && S_ISREG(s.st_mode) && s.st_size > MAX_IN_MEMORY;
    return large ? tokens_on_disk(k, path, threads, err) : tokens_in_memory(k, path, err);
}

static rapt_code eval_text_check_tokens(const rapt_model *m, const rapt_token_file *f, const char *path, rapt_error *err)
{
    size_t vocab = m->language.net->config.vocab, i = 0;
    int32_t id = 0;
    if (rapt_token_file_count(f) < 2)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: a text of one token has no loss: nothing comes before it", path);
    if ((size_t)rapt_token_file_max_id(f) < vocab)
        return RAPT_OK;
    for (rapt_token_file_ids(f, i, 1, &id); (size_t)id < vocab; rapt_token_file_ids(f, i, 1, &id))
        i++;
    return rapt_fail(err, RAPT_ERR_VALUE, "%s: token %zu, at byte %zu, is %d; the model knows %zu", path, i,
                     rapt_token_file_bytes(f, m->language.tokenizer, 0, i) + 1, (int)id, vocab);
}

static bool eval_text_same_ids(const rapt_token_file *f, const rapt_token_file *g)
{
    const size_t count = rapt_token_file_count(f);
    int32_t a[IDS], b[IDS];
    bool same = rapt_token_file_count(g) == count;
    for (size_t i = 0; i < count && same; i += IDS) {
        const size_t n = count - i < IDS ? count - i : IDS;
        rapt_token_file_ids(f, i, n, a);
        rapt_token_file_ids(g, i, n, b);
        same = memcmp(a, b, n * sizeof *a) == 0;
    }
    return same;
}

/* Whether the tokenizer of the model that is compared with gives the same ids for the file. */
static rapt_code eval_text_check_compared(const eval_arguments *a, const rapt_model *m, const rapt_token_file *f,
                                          const char *path, rapt_error *err)
{
    rapt_error reason = {0};
    const rapt_tokenizer *other = a->compare->language.tokenizer;
    if (rapt_tokenizer_hash(other) == rapt_tokenizer_hash(m->language.tokenizer))
        return RAPT_OK;
    rapt_token_file *g = eval_text_read_tokens(other, path, a->o.threads, &reason);
    rapt_code code = RAPT_OK;
    if (!g)
        code = rapt_fail(err, reason.code, "--compare: the tokenizer of %s: %s", a->compare_with, reason.message);
    else if (!eval_text_same_ids(f, g))
        code = eval_compare_fail_ids(a, err);
    rapt_token_file_close(g);
    return code;
}

/* ---- the loss ------------------------------------------------------------------------------------------------- */

/* The loss of a batch of windows, whose logits are compared with fp32. */
static rapt_code compare_windows(const rapt_model *m, rapt_tape *t, rapt_kv_cache *cache, const rapt_window_batch *b,
                                 const rapt_loss_options *o, rapt_loss_sums *parts, eval_compare *c, rapt_error *err)
{
    if (cache)
        rapt_kv_cache_clear(cache, b->inputs.batch);
    rapt_tensor *logits = cache ? rapt_lm_step(t, m->language.net, cache, b->inputs, false)
                                : rapt_lm_forward(t, m->language.net, b->inputs);
    rapt_op_cross_entropy(t, logits, b->labels, o, parts);
    rapt_code code = rapt_tape_status(t, err);
    if (code)
        return code;
    rapt_tape_begin(c->exact.t, (rapt_pass){0});
    return eval_compare_add(c, rapt_lm_forward(c->exact.t, c->with->language.net, b->inputs), logits, b->labels, o, err);
}

/* `cache`: NULL, or attention goes through it, so that the type of its keys and values has effect. `c`: NULL, or the model to
 * compare with. */
static rapt_code eval_text_add_loss(const rapt_model *m, rapt_tape *t, rapt_kv_cache *cache, rapt_windows *w,
                                    rapt_loss_sums *sum, eval_compare *c, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < rapt_windows_batches(w) && !code; i++) {
        const rapt_window_batch *b = rapt_windows_at(w, i);
        rapt_loss_sums parts = {0};
        rapt_loss_options o = {.valid_lens = b->valid_lens};
        rapt_tape_begin(t, (rapt_pass){0});
        if (c)
            code = compare_windows(m, t, cache, b, &o, &parts, c, err);
        else if (cache)
            lm_cached_loss(t, m->language.net, cache, b->inputs, b->labels, &o, &parts);
        else
            rapt_lm_loss(t, m->language.net, b->inputs, b->labels, &o, &parts);
        code = code ? code : eval_add_loss(t, &parts, sum, err);
    }
    return code;
}

/* Windows of a batch. It depends on the model alone, as the order of the sum does. */
static size_t batch_rows(const rapt_lm_config *c)
{
    size_t rows = MAX_LOGITS / c->context / c->vocab;
    return rows < 1 ? 1 : rows < MAX_ROWS ? rows : MAX_ROWS;
}

static rapt_code eval_text_compute_loss(const eval_arguments *a, const rapt_model *m, const rapt_token_file *f,
                                        rapt_loss_sums *sum, eval_compare *c, rapt_error *err)
{
    rapt_token_range whole = rapt_token_range_all(f);
    size_t labels = whole.end - 1, context = m->language.net->config.context;
    size_t rows = batch_rows(&m->language.net->config);
    rapt_windows *w = rapt_windows_new(f, &whole, context < labels ? context : labels, rows, 0, err);
    eval_tape e = {0};
    rapt_kv_sizes sizes = rapt_lm_kv_sizes(m->language.net, rows);
    rapt_kv_cache *cache = NULL;
    sizes.storage = a->kv_cache;
    rapt_code code = w ? eval_tape_make(&e, m, &a->o, err) : err->code;
    if (!code && a->kv_cache != RAPT_STORAGE_FP32 && !(cache = rapt_kv_cache_new(sizes, err)))
        code = err->code;
    if (!code && c)
        code = eval_compare_make(c, a->compare, &a->o, err);
    if (!code)
        code = eval_text_add_loss(m, e.t, cache, w, sum, c, err);
    rapt_kv_cache_free(cache);
    eval_tape_free(&e);
    rapt_windows_free(w);
    return code;
}

/* ---- the report ---------------------------------------------------------------------------------------------- */

typedef struct text_result {
    size_t tokens, bytes; /* tokens and bytes that count: all except the first token */
    double loss, perplexity, bits_per_byte;
} text_result;

static text_result summarize(const rapt_model *m, const rapt_token_file *f, const rapt_loss_sums *sum)
{
    size_t bytes = rapt_token_file_bytes(f, m->language.tokenizer, 1, rapt_token_file_count(f));
    double loss = sum->nll / (double)sum->tokens, bits = sum->nll / log(2);
    return (text_result){sum->tokens, bytes, loss, fmin(exp(loss), DBL_MAX), bytes > 0 ? bits / (double)bytes : 0};
}

static rapt_code eval_text_print_json(const char *file, const text_result *r, const eval_compare *c, rapt_error *err)
{
    json_t *o = json_pack("{s:s, s:f, s:f, s:f, s:I, s:I}", "data", file, "loss", r->loss, "perplexity", r->perplexity,
                          "bits_per_byte", r->bits_per_byte, "tokens", (json_int_t)r->tokens, "bytes", (json_int_t)r->bytes);
    if (o && c)
        eval_compare_put(c, o);
    return put_json(o, 0, err);
}

static void eval_text_print_text(const char *file, const text_result *r, const eval_compare *c)
{
    cli_print_clean(stdout, file);
    printf(": %zu token%s, %zu byte%s\nloss %.4f nats a token, perplexity %.2f, %.4f bits per byte\n", r->tokens,
           cli_plural(r->tokens), r->bytes, cli_plural(r->bytes), r->loss, r->perplexity, r->bits_per_byte);
    if (c)
        eval_compare_print(c, r->loss * (double)r->tokens);
}

rapt_code eval_text(const eval_arguments *a, rapt_model *m, const char *file, rapt_error *err)
{
    rapt_loss_sums sum = {0};
    eval_compare compared = {0}, *c = a->compare ? &compared : NULL;
    rapt_token_file *f = eval_text_read_tokens(m->language.tokenizer, file, a->o.threads, err);
    rapt_code code = f ? eval_text_check_tokens(m, f, file, err) : err->code;
    if (!code && c)
        code = eval_text_check_compared(a, m, f, file, err);
    if (!code)
        code = eval_text_compute_loss(a, m, f, &sum, c, err);
    if (!code && !isfinite(sum.nll))
        code = rapt_fail(err, RAPT_ERR_NOT_FINITE, "%s: the loss is not a finite number", file);
    if (!code) {
        text_result r = summarize(m, f, &sum);
        if (a->json)
            code = eval_text_print_json(file, &r, c, err);
        else
            eval_text_print_text(file, &r, c);
    }
    eval_compare_free(&compared);
    rapt_token_file_close(f);
    return code;
}
