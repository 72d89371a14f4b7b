/* train/task/text_data.c: finds and joins texts, loads or learns a tokenizer, makes the token file; or takes tokens from the
 * program. For task_language_model.c. */
#include "train/task/text_data.h"

#include "base/chars.h"
#include "base/rows.h"
#include "data/text_files.h"
#include "io/model.h"
#include "recipe/recipe_model.h"
#include "text/chat/chatml.h"
#include "text/text_in.h"
#include "text/tokenizer.h"
#include "train/ranks/ranks_work.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKENS_FILE "text.tokens"
#define END_OF_TEXT "<|endoftext|>"
#define TEXT_FILE "text.txt" /* if the recipe names several files */

/* ---- the text and its tokenizer ------------------------------------------------------------------------------- */

static rapt_code find_text(const run *r, text_data *d, rapt_error *err)
{
    const char *list = r->recipe->data.text, *out = r->options->out;
    rapt_code code = text_files_are_several(list, &d->several, err);
    if (code)
        return code;
    d->text = d->several ? file_join(out, TEXT_FILE) : chars_copy(list);
    d->tokens_path = file_join(out, TOKENS_FILE);
    if (!d->text || !d->tokens_path)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the data");
    bool there = true;
    if (!d->several && (code = file_is_there(list, &there, err)) != RAPT_OK)
        return code;
    if (!there) /* before a tokenizer is looked for */
        return rapt_fail(err, RAPT_ERR_NOT_FOUND, "cannot read %s: %s", list, strerror(ENOENT));
    return RAPT_OK;
}

/* Whether the text of a special token, encoded alone, becomes that token. The control pieces of SentencePiece never do. */
static rapt_code is_found_in_text(const rapt_tokenizer *k, const char *text, bool *found, rapt_error *err)
{
    int32_t *ids;
    size_t count;
    const int32_t id = rapt_tokenizer_special(k, text);
    *found = false;
    if (id < 0)
        return RAPT_OK;
    rapt_code code = tokenizer_encode_within(k, text, strlen(text), true, &ids, &count, err);
    *found = !code && count == 1 && ids[0] == id;
    free(ids);
    return code;
}

/* The separator of documents: <|endoftext|>, or else the end of text of the model that is fine-tuned (not the token with which
 * its folder may end a turn of a chat). *text is NULL if the tokenizer finds neither. */
static rapt_code find_separator(const run *r, const char **text, rapt_error *err)
{
    const rapt_language_model *m = &r->model->language;
    bool found = !m->tokenizer && r->recipe->tokenizer.type == RAPT_RECIPE_TOKENIZER_BPE;
    const char *end = m->tokenizer && m->end_of_text_count ? rapt_tokenizer_token(m->tokenizer, m->end_of_text[0], NULL) : NULL;
    rapt_code code = RAPT_OK;
    *text = END_OF_TEXT;
    if (m->tokenizer)
        code = is_found_in_text(m->tokenizer, *text, &found, err);
    if (!code && !found && end)
        code = is_found_in_text(m->tokenizer, *text = end, &found, err);
    *text = found ? *text : NULL;
    return code;
}

/* Joins several files into one text, once their separator is known. */
static rapt_code join_text(run *r, text_data *d, rapt_error *err)
{
    const rapt_recipe *k = r->recipe;
    text_choice choice = {.names = k->data.text_files, .shuffled = k->data.text_order == RAPT_RECIPE_TEXT_ORDER_SHUFFLED};
    rapt_code code = d->several && k->data.special_tokens ? find_separator(r, &choice.separator, err) : RAPT_OK;
    if (!code && d->several)
        code = text_files_join(k->data.text, &choice, d->text, &d->text_out, err);
    d->joins_text = d->several && !code;
    if (code)
        return code;
    d->text_at = d->several ? file_writer_draft(&d->text_out) : chars_copy(d->text);
    return d->text_at ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the data");
}

/* BPE is trained on the training set only; a vocabulary of characters must also cover the validation set. */
static rapt_tokenizer *learn_tokenizer(const run *r, const text_data *d, rapt_error *err)
{
    file_map text;
    bool pairs = r->recipe->tokenizer.type == RAPT_RECIPE_TOKENIZER_BPE;
    rapt_error reason = {0};
    const stop_check stop = run_stop(r);
    static const char *const specials[] = {END_OF_TEXT, CHATML_START, CHATML_END};
    rapt_bpe_options o = rapt_bpe_options_default();
    o.specials = specials;
    o.special_count = r->recipe->tokenizer.chat == RAPT_RECIPE_CHAT_CHATML ? 3 : 1;
    o.pattern = r->recipe->tokenizer.pattern;
    o.normalization = r->recipe->tokenizer.normalize;
    o.threads = r->options->threads;
    o.stop = stop.stop;
    o.stop_context = stop.context;
    if (text_in_map(&text, d->text, d->text_at, err) != RAPT_OK)
        return NULL;
    if (text_in_check_map(d->text, &text, err) != RAPT_OK) {
        file_map_close(&text);
        return NULL;
    }
    size_t size = pairs ? (size_t)((double)text.size * (1 - r->recipe->data.validation_fraction)) : text.size;
    o.vocab_size = recipe_vocab_size(r->recipe, size);
    rapt_tokenizer *k = pairs ? byte_bpe_train_file(&text, size, &o, &reason) : characters_train_file(&text, &reason);
    file_map_close(&text);
    if (!k)
        rapt_fail(err, reason.code, "%s: %s", d->text, reason.message);
    return k;
}

static rapt_tokenizer *load_tokenizer(const run *r, rapt_error *err)
{
    static const char *const prefixes[] = {[RAPT_RECIPE_TOKENIZER_FILE] = "",
                                           [RAPT_RECIPE_TOKENIZER_CL100K] = "cl100k_base:",
                                           [RAPT_RECIPE_TOKENIZER_O200K] = "o200k_base:",
                                           [RAPT_RECIPE_TOKENIZER_R50K] = "r50k_base:"};
    ROWS_FIT(prefixes, RAPT_RECIPE_TOKENIZERS, 0);
    char *spec = chars_print("%s%s", prefixes[r->recipe->tokenizer.type], r->recipe->tokenizer.path);
    if (!spec) {
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a tokenizer");
        return NULL;
    }
    rapt_tokenizer *k = rapt_tokenizer_load(spec, err);
    free(spec);
    return k;
}

static bool learns_tokenizer(const run *r)
{
    rapt_recipe_tokenizer type = r->recipe->tokenizer.type;
    return !r->init && (type == RAPT_RECIPE_TOKENIZER_CHARACTERS || type == RAPT_RECIPE_TOKENIZER_BPE);
}

/* Makes both together: training a tokenizer needs the text, and a loaded tokenizer decides the end of text that separates
 * files. */
static rapt_code make_text_and_tokenizer(run *r, text_data *d, rapt_error *err)
{
    rapt_tokenizer **k = &r->model->language.tokenizer;
    const bool learns = learns_tokenizer(r);
    if (!r->init)
        run_phase(r, learns ? "learning a vocabulary" : "reading the tokenizer", 0, 0);
    if (!r->init && !learns && !(*k = load_tokenizer(r, err)))
        return err->code;
    rapt_code code = join_text(r, d, err);
    if (!code && learns && !(*k = learn_tokenizer(r, d, err)))
        code = err->code;
    return code;
}

/* ---- tokens --------------------------------------------------------------------------------------------------- */

bool text_data_is_given(const run *r)
{
    return r->options->tokens || r->options->validation_tokens;
}

rapt_code text_data_find(run *r, text_data *d, rapt_error *err)
{
    if (!text_data_is_given(r))
        return run_is_first(r) ? find_text(r, d, err) : RAPT_OK;
    if (!r->options->tokens)
        return rapt_fail(err, RAPT_ERR_VALUE, "there are tokens to validate with, and none to train on");
    d->tokens = r->options->tokens;
    d->valid = r->options->validation_tokens;
    d->text = chars_copy(r->recipe->data.text);
    return d->text ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the data");
}

int32_t text_data_max_id(const text_data *d)
{
    const int32_t valid = d->valid ? rapt_token_file_max_id(d->valid) : 0, first = rapt_token_file_max_id(d->tokens);
    return first > valid ? first : valid;
}

/* Whether the tokenizer can read the program's tokens. A model that the run starts from may have ids beside the tokenizer's. */
static rapt_code check_program_ids(const run *r, const text_data *d, rapt_error *err)
{
    const rapt_tokenizer *k = r->model->language.tokenizer;
    const rapt_token_file *const files[] = {d->tokens, d->valid};
    for (size_t i = 0; i < 2; i++) {
        const uint64_t hash = files[i] ? files[i]->header.tokenizer_hash : 0;
        if (hash && hash != rapt_tokenizer_hash(k))
            return rapt_fail(err, RAPT_ERR_VALUE, "the tokens%s are of another tokenizer", i ? " to validate with" : "");
    }
    if (r->init || (size_t)text_data_max_id(d) < rapt_tokenizer_size(k))
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "%s: token %d occurs; the tokenizer has %zu", d->text, text_data_max_id(d),
                     rapt_tokenizer_size(k));
}

/* Whether the program's tokens can be trained on: they have a tokenizer already. */
static rapt_code check_program_tokens(run *r, const text_data *d, rapt_error *err)
{
    const rapt_train_options *o = r->options;
    if (learns_tokenizer(r))
        return rapt_fail(err, RAPT_ERR_VALUE, "tokenizer.type is %s, which is learned from a text; for tokens from memory it "
                         "must be a file", r->recipe->tokenizer.type == RAPT_RECIPE_TOKENIZER_BPE ? "bpe" : "characters");
    if (o->validation_tokens && r->recipe->data.validation_fraction > 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "data.validation_fraction is %g, and there are tokens to validate with",
                         r->recipe->data.validation_fraction);
    if (!r->init && !(r->model->language.tokenizer = load_tokenizer(r, err)))
        return err->code;
    return check_program_ids(r, d, err);
}

rapt_code text_data_make(run *r, text_data *d, rapt_error *err)
{
    if (text_data_is_given(r))
        return check_program_tokens(r, d, err);
    rapt_code code = make_text_and_tokenizer(r, d, err);
    if (code)
        return code;
    run_phase(r, "tokenizing the text", 0, 0);
    const token_options o = {!r->recipe->data.special_tokens, r->options->threads, run_stop(r)};
    d->own = token_file_draft(r->model->language.tokenizer, (token_place){d->text, d->text_at}, d->tokens_path, o, &d->tokens_out,
                              &d->makes_tokens, err);
    d->tokens = d->own;
    return d->tokens ? RAPT_OK : err->code;
}

/* Names the files as rank 0 does; they need not exist here. */
static rapt_code name_text(const run *r, text_data *d, bool several, rapt_error *err)
{
    d->text = several ? file_join(r->options->out, TEXT_FILE) : chars_copy(r->recipe->data.text);
    d->tokens_path = file_join(r->options->out, TOKENS_FILE);
    return d->text && d->tokens_path ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the data");
}

static rapt_code check_same_tokenizer(const run *r, const text_data *d, rapt_error *err)
{
    if (rapt_tokenizer_hash(r->model->language.tokenizer) == d->tokens->header.tokenizer_hash)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE, "the tokenizer is not rank 0's%s%s", r->init ? ": the one of the model in " : "",
                     r->init ? r->init : "");
}

rapt_code text_data_share(run *r, text_data *d, rapt_error *err)
{
    if (text_data_is_given(r))
        return r->init ? RAPT_OK : text_share_tokenizer(r, &r->model->language.tokenizer, err);
    bool several = run_is_first(r) && strcmp(d->text, r->recipe->data.text) != 0;
    rapt_code code = ranks_give(r, &several, sizeof several, err);
    if (!code)
        code = ranks_agree(r, run_is_first(r) ? RAPT_OK : name_text(r, d, several, err), err);
    if (!code && !r->init)
        code = text_share_tokenizer(r, &r->model->language.tokenizer, err);
    text_tokens t = {several ? NULL : d->text, d->tokens_path, d->makes_tokens ? &d->tokens_out : NULL, d->own};
    if (!code)
        code = text_share_tokens(r, &t, err);
    d->tokens = d->own = t.file;
    return code ? code : ranks_agree(r, check_same_tokenizer(r, d, err), err);
}

rapt_code text_data_hash(const run *r, text_data *d, rapt_error *err)
{
    const size_t vocab = rapt_tokenizer_size(r->model->language.tokenizer);
    rapt_code code = token_file_hash(d->tokens, vocab, &d->tokens_hash, err);
    return code || !d->valid ? code : token_file_hash(d->valid, vocab, &d->valid_hash, err);
}

/* ---- files ---------------------------------------------------------------------------------------------------- */

/* The token file is made again if it does not belong to the text. */
rapt_code text_data_files(const run *r, const char *names[TASK_MAX_FILES + 1], rapt_error *err)
{
    bool several = false;
    rapt_code code = text_data_is_given(r) ? RAPT_OK : text_files_are_several(r->recipe->data.text, &several, err);
    if (code)
        return code;
    *names++ = "tokenizer.json";
    if (r->recipe->tokenizer.chat || r->init)
        *names++ = MODEL_CHAT_TEMPLATE;
    if (several)
        *names++ = TEXT_FILE;
    *names = NULL;
    return RAPT_OK;
}

/* Called after all checks. If the process is killed between the two renames, the tokens belong to another text; the next run
 * notices that and makes them again. */
rapt_code text_data_write(text_data *d, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    if (d->joins_text)
        code = file_writer_finish(&d->text_out, err);
    d->joins_text = false;
    if (!code && d->makes_tokens) {
        code = file_writer_finish(&d->tokens_out, err);
        d->makes_tokens = false;
    }
    return code;
}

void text_data_close(text_data *d)
{
    if (d->joins_text)
        file_writer_discard(&d->text_out);
    if (d->makes_tokens)
        file_writer_discard(&d->tokens_out);
    rapt_windows_free(d->train);
    rapt_windows_free(d->validation);
    rapt_token_file_close(d->own);
    free(d->text);
    free(d->text_at);
    free(d->tokens_path);
    free(d->zeros);
    free(d);
}
