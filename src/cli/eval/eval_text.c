/* cli/eval/eval_text.c: `rapt eval` of a language model: loss, perplexity and bits per byte of whole texts. */
#include "base/disk.h"
#include "cli/cli.h"
#include "cli/eval/cmd_eval.h"
#include "cli/eval/eval_compare.h"
#include "cli/put_json.h"
#include "cli/say.h"

#include "data/tokens/token_file.h"
#include "decode/score_watch.h"
#include "io/model_core.h"
#include "text/text_in.h"
#include "text/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_IN_MEMORY ((uint64_t)64 << 20) /* bytes of a text; a longer text is tokenized into a temporary token file */

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
    disk_remove_folder(folder);
    free(path);
    free(folder);
    return f;
}

static rapt_token_file *eval_text_read_tokens(const rapt_tokenizer *k, const char *path, int threads, rapt_error *err)
{
    disk_entry s; /* if that fails, reading reports why */
    bool large = disk_is_file(path, &s) && s.size > MAX_IN_MEMORY;
    return large ? tokens_on_disk(k, path, threads, err) : tokens_in_memory(k, path, err);
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
    rapt_token_file *g = eval_text_read_tokens(other, path, a->o.compute.threads, &reason);
    rapt_code code = RAPT_OK;
    if (!g)
        code = rapt_fail(err, reason.code, "--compare: the tokenizer of %s: %s", a->compare_with, reason.message);
    else if (!eval_text_same_ids(f, g))
        code = eval_compare_fail_ids(a, err);
    rapt_token_file_close(g);
    return code;
}

/* ---- the loss ------------------------------------------------------------------------------------------------- */

static rapt_code eval_text_score(const eval_arguments *a, const rapt_model *m, const rapt_token_file *f, const char *file,
                                 eval_compare *c, rapt_score *out, rapt_error *err)
{
    const rapt_score_options o = {.compute = a->o.compute};
    const score_watch watch = {eval_compare_watch, c};
    rapt_error reason = {0};
    rapt_code code = c ? eval_compare_make(c, a->compare, &a->o, err) : RAPT_OK;
    if (code)
        return code;
    code = score_tokens(m, f, &o, c ? &watch : NULL, out, &reason);
    return code ? rapt_fail(err, code, "%s: %s", file, reason.message) : RAPT_OK;
}

/* ---- the report ---------------------------------------------------------------------------------------------- */

static rapt_code eval_text_print_json(const char *file, const rapt_score *r, const eval_compare *c, rapt_error *err)
{
    json_t *o = json_pack("{s:s, s:f, s:f, s:f, s:I, s:I}", "data", file, "loss", r->loss, "perplexity", r->perplexity,
                          "bits_per_byte", r->bits_per_byte, "tokens", (json_int_t)r->tokens, "bytes", (json_int_t)r->bytes);
    if (o && c)
        eval_compare_put(c, o);
    return put_json(o, 0, err);
}

static void eval_text_print_text(const char *file, const rapt_score *r, const eval_compare *c)
{
    cli_print_clean(stdout, file);
    printf(": %zu token%s, %zu byte%s\nloss %.4f nats a token, perplexity %.2f, %.4f bits per byte\n", r->tokens,
           cli_plural(r->tokens), r->bytes, cli_plural(r->bytes), r->loss, r->perplexity, r->bits_per_byte);
    if (c)
        eval_compare_print(c, r->nll);
}

rapt_code eval_text(const eval_arguments *a, rapt_model *m, const char *file, rapt_error *err)
{
    rapt_score score;
    eval_compare compared = {0}, *c = a->compare ? &compared : NULL;
    rapt_token_file *f = eval_text_read_tokens(m->language.tokenizer, file, a->o.compute.threads, err);
    rapt_code code = f ? RAPT_OK : err->code;
    if (!code && c)
        code = eval_text_check_compared(a, m, f, file, err);
    if (!code)
        code = eval_text_score(a, m, f, file, c, &score, err);
    if (!code && a->json)
        code = eval_text_print_json(file, &score, c, err);
    else if (!code)
        eval_text_print_text(file, &score, c);
    eval_compare_free(&compared);
    rapt_token_file_close(f);
    return code;
}
