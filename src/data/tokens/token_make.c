/* data/tokens/token_make.c: makes a token file from a text file, on all threads, unless it already exists. For the start of a
 * training run. Texts and results may be larger than memory; the tokenizer decides how a text is divided. */
#include "data/tokens/token_file.h"

#include "base/stop.h"
#include "text/encode_run.h"
#include "text/text_in.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define TEXT_PORTION ((size_t)1 << 20) /* bytes that are hashed at a time */

/* The text to be tokenized. */
typedef struct source {
    const rapt_tokenizer *tokenizer;
    const char *path;
    file_map text;
    token_options options;
} source;

typedef struct maker {
    file_writer *out;
    token_header header;
    const source *source;
    XXH3_state_t *hash, *text_hash; /* hashes of the ids, and of the text */
    size_t hashed;                  /* bytes of the text */
    size_t held;                    /* ids in the portion */
    char portion[TOKEN_PORTION * 4];
    rapt_error *err;
} maker;

static rapt_code source_open(source *s, const rapt_tokenizer *k, token_place place, rapt_error *err)
{
    *s = (source){.tokenizer = k, .path = place.name};
    rapt_code code = text_in_map(&s->text, place.name, place.at, err);
    if (code == RAPT_OK && s->text.size == 0)
        code = rapt_fail(err, RAPT_ERR_FORMAT, "%s: the file is empty", place.name);
    return code;
}

/* Hashes what has been read. A text may be read a second time. */
static void token_make_passed(void *context, size_t begin, size_t end)
{
    maker *m = context;
    const file_map *text = &m->source->text;
    if (end > m->hashed) {
        XXH3_64bits_update(m->text_hash, text->data + m->hashed, end - m->hashed);
        m->hashed = end;
    }
    file_map_forget(text, begin, end);
}

static rapt_code token_make_flush(maker *m)
{
    size_t bytes = m->held * m->header.width;
    XXH3_64bits_update(m->hash, m->portion, bytes);
    m->header.count += m->held;
    m->held = 0;
    return file_writer_put(m->out, m->portion, bytes, m->err);
}

/* A rapt_ids_fn. Its failures go to the maker's error, because the tokenizer's get the text's path before them. */
static rapt_code take_ids(void *context, const int32_t *ids, size_t count, rapt_error *err)
{
    (void)err;
    maker *m = context;
    rapt_code code = RAPT_OK;
    for (size_t i = 0, n; code == RAPT_OK && i < count; i += n) {
        n = count - i < TOKEN_PORTION - m->held ? count - i : TOKEN_PORTION - m->held;
        char *to = m->portion + m->held * m->header.width;
        m->header.largest = token_pack(ids + i, n, m->header.width, to, m->header.largest);
        m->held += n;
        if (m->held == TOKEN_PORTION)
            code = token_make_flush(m);
    }
    return code;
}

static rapt_code encode_on_threads(maker *m, const source *s, pool *threads)
{
    rapt_error from_tokenizer = {0};
    const encode_run run = {.text = s->text.data, .size = s->text.size, .chunk = ENCODE_CHUNK, .specials = !s->options.ordinary,
                            .pool = threads, .beside = m->out->path, .stop = s->options.stop, .sink = take_ids,
                            .passed = token_make_passed, .context = m};
    rapt_code code = encode_run_all(s->tokenizer, &run, &from_tokenizer);
    if (code == RAPT_ERR_INTERRUPTED)
        return rapt_fail(m->err, code, "stopped");
    if (from_tokenizer.code)
        rapt_fail(m->err, from_tokenizer.code, "%s: %s", s->path, from_tokenizer.message);
    return code == RAPT_OK ? token_make_flush(m) : code;
}

static rapt_code token_make_encode(maker *m, const source *s)
{
    rapt_error why = {0};
    pool *threads = pool_new(s->options.threads, &why);
    rapt_code code = threads ? encode_on_threads(m, s, threads) : rapt_fail(m->err, why.code, "%s", why.message);
    pool_free(threads);
    return code;
}

/* The header is written twice: to keep its place, and when all is known. */
static rapt_code token_make_fill(maker *m, const source *s)
{
    token_header *h = &m->header;
    XXH3_64bits_reset(m->hash);
    XXH3_64bits_reset(m->text_hash);
    rapt_code code = file_writer_put(m->out, h, sizeof *h, m->err);
    if (code == RAPT_OK)
        code = token_make_encode(m, s);
    if (code != RAPT_OK)
        return code;
    if (h->count == 0)
        return rapt_fail(m->err, RAPT_ERR_FORMAT, "%s: the text has no tokens", s->path);
    if (h->largest >= h->vocab)
        return rapt_fail(m->err, RAPT_ERR_VALUE, "%s: token %u is outside the tokenizer's vocabulary of %u", s->path, h->largest,
                         h->vocab);
    h->ids_hash = XXH3_64bits_digest(m->hash);
    h->text_hash = XXH3_64bits_digest(m->text_hash);
    h->checksum = token_header_checksum(h);
    code = file_writer_rewind(m->out, m->err);
    return code == RAPT_OK ? file_writer_put(m->out, h, sizeof *h, m->err) : code;
}

static rapt_code token_make_write_file(maker *m, const source *s, const char *path)
{
    rapt_code code = file_writer_open(m->out, path, m->err);
    if (code != RAPT_OK)
        return code;
    code = token_make_fill(m, s);
    if (code != RAPT_OK)
        file_writer_discard(m->out);
    return code;
}

/* Swapped arguments, or a wrong path, must not overwrite a file that is not a token file. */
static rapt_code token_make_check_replaceable(const char *path, rapt_error *err)
{
    bool there;
    file_map old;
    rapt_code code = file_is_there(path, &there, err);
    if (code == RAPT_OK && there)
        code = file_map_open(&old, path, err);
    if (code != RAPT_OK || !there)
        return code;
    bool ours = token_is_ours(old.data, old.size);
    file_map_close(&old);
    return ours ? RAPT_OK : rapt_fail(err, RAPT_ERR_VALUE, "%s: it is no token file, and is not replaced by one", path);
}

/* Leaves the result in `out`. */
static rapt_code token_make_ids(const source *s, const char *out_path, file_writer *out, rapt_error *err)
{
    size_t vocab = rapt_tokenizer_size(s->tokenizer);
    rapt_code code = token_make_check_replaceable(out_path, err);
    if (code == RAPT_OK)
        code = text_in_check_map(s->path, &s->text, err);
    if (code != RAPT_OK)
        return code;
    maker *m = calloc(1, sizeof *m);
    XXH3_state_t *hash = XXH3_createState(), *text_hash = XXH3_createState();
    if (m && hash && text_hash) {
        m->out = out, m->source = s, m->hash = hash, m->text_hash = text_hash, m->err = err;
        m->header = token_header_new(vocab, !s->options.ordinary);
        m->header.text_bytes = s->text.size;
        m->header.tokenizer_hash = rapt_tokenizer_hash(s->tokenizer);
        code = token_make_write_file(m, s, out_path);
    } else {
        code = rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory while writing", out_path);
    }
    XXH3_freeState(hash);
    XXH3_freeState(text_hash);
    free(m);
    return code;
}

rapt_code rapt_token_file_make(const rapt_tokenizer *k, const char *text_path, const char *out_path, rapt_error *err)
{
    source s;
    file_writer out;
    rapt_code code = source_open(&s, k, (token_place){text_path, text_path}, err);
    if (code == RAPT_OK)
        code = token_make_ids(&s, out_path, &out, err);
    file_map_close(&s.text);
    return code == RAPT_OK ? file_writer_finish(&out, err) : code;
}

/* XXH3 of the text; false on out-of-memory. */
static bool hash_source(const source *s, uint64_t *out)
{
    XXH3_state_t *hash = XXH3_createState();
    if (!hash)
        return false;
    XXH3_64bits_reset(hash);
    for (size_t at = 0, n; at < s->text.size; at += n) {
        n = s->text.size - at < TEXT_PORTION ? s->text.size - at : TEXT_PORTION;
        XXH3_64bits_update(hash, s->text.data + at, n);
        file_map_forget(&s->text, at, at + n);
    }
    *out = XXH3_64bits_digest(hash);
    XXH3_freeState(hash);
    return true;
}

/* The file, if it holds this text by this tokenizer. If not, the reason is not reported, because the file is made again. Reads
 * the text last. */
static rapt_token_file *open_current(const source *s, const char *path)
{
    uint64_t hash;
    rapt_token_file *f = rapt_token_file_open(path, NULL);
    if (f && (f->header.version == TOKEN_ORDINARY) == s->options.ordinary &&
        f->header.tokenizer_hash == rapt_tokenizer_hash(s->tokenizer) &&
        f->header.vocab == rapt_tokenizer_size(s->tokenizer) && f->header.text_bytes == s->text.size &&
        hash_source(s, &hash) && f->header.text_hash == hash)
        return f;
    rapt_token_file_close(f);
    return NULL;
}

static rapt_token_file *open_draft(file_writer *out, const char *out_path, rapt_error *err)
{
    char *at = file_writer_draft(out);
    rapt_token_file *f = NULL;
    if (at)
        f = token_file_open((token_place){out_path, at}, err);
    else
        rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory while reading", out_path);
    free(at);
    if (!f)
        file_writer_discard(out);
    return f;
}

rapt_token_file *token_file_draft(const rapt_tokenizer *k, token_place text, const char *out_path, token_options options,
                                  file_writer *out, bool *made, rapt_error *err)
{
    source s;
    rapt_token_file *f = NULL;
    rapt_code code = source_open(&s, k, text, err);
    s.options = options;
    if (code == RAPT_OK)
        f = open_current(&s, out_path);
    *made = code == RAPT_OK && !f;
    if (*made)
        code = token_make_ids(&s, out_path, out, err);
    file_map_close(&s.text);
    if (*made && code == RAPT_OK)
        f = open_draft(out, out_path, err);
    *made = *made && f;
    return f;
}

rapt_token_file *rapt_token_file_ensure(const rapt_tokenizer *k, const char *text_path, const char *out_path,
                                        rapt_error *err)
{
    bool made;
    file_writer out;
    rapt_token_file *f = token_file_draft(k, (token_place){text_path, text_path}, out_path, (token_options){0}, &out, &made, err);
    if (!made || file_writer_finish(&out, err) == RAPT_OK)
        return f;
    rapt_token_file_close(f);
    return NULL;
}
