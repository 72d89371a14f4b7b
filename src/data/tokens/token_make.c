/* data/tokens/token_make.c: a text file into a token file, in portions, and only where it is not there already. For the start
 * of a training run. Texts and results may be larger than memory; how a text is cut is up to the tokenizer. */
#include "data/tokens/token_file.h"

#include "base/stop.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* The text to be tokenized. */
typedef struct source {
    const rapt_tokenizer *tokenizer;
    const char *path;
    file_map text;
    uint64_t hash;
    stop_check stop;
} source;

typedef struct maker {
    file_writer *out;
    token_header header;
    XXH3_state_t *hash; /* of the ids */
    size_t held;        /* ids in the portion */
    char portion[TOKEN_PORTION * 4];
    stop_check stop;
    rapt_error *err;
} maker;

static rapt_code source_open(source *s, const rapt_tokenizer *k, token_place place, rapt_error *err)
{
    *s = (source){.tokenizer = k, .path = place.name};
    rapt_code code = file_map_open(&s->text, place.at, err);
    if (code != RAPT_OK)
        return code;
    if (s->text.size == 0)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: the file is empty", place.name);
    s->hash = XXH3_64bits(s->text.data, s->text.size);
    return RAPT_OK;
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
    rapt_code code = stop_asked(m->stop) ? rapt_fail(m->err, RAPT_ERR_INTERRUPTED, "stopped") : RAPT_OK;
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

static rapt_code token_make_encode(maker *m, const source *s)
{
    rapt_error from_tokenizer = {0};
    rapt_code code = rapt_tokenizer_encode_to(s->tokenizer, s->text.data, s->text.size, false, take_ids, m,
                                              &from_tokenizer);
    if (from_tokenizer.code)
        rapt_fail(m->err, from_tokenizer.code, "%s: %s", s->path, from_tokenizer.message);
    return code == RAPT_OK ? token_make_flush(m) : code;
}

/* The header is written twice: to keep its place, and when all is known. */
static rapt_code token_make_fill(maker *m, const source *s)
{
    token_header *h = &m->header;
    XXH3_64bits_reset(m->hash);
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
    if (code != RAPT_OK)
        return code;
    maker *m = calloc(1, sizeof *m);
    XXH3_state_t *hash = m ? XXH3_createState() : NULL;
    if (hash) {
        *m = (maker){.out = out, .header = token_header_new(vocab), .hash = hash, .stop = s->stop, .err = err};
        m->header.text_bytes = s->text.size;
        m->header.text_hash = s->hash;
        m->header.tokenizer_hash = rapt_tokenizer_hash(s->tokenizer);
        code = token_make_write_file(m, s, out_path);
    } else {
        code = rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory while writing", out_path);
    }
    XXH3_freeState(hash);
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

/* The file if it holds this text by this tokenizer. Why it does not is not reported: it is made anew. */
static rapt_token_file *open_current(const source *s, const char *path)
{
    rapt_token_file *f = rapt_token_file_open(path, NULL);
    if (f && f->header.tokenizer_hash == rapt_tokenizer_hash(s->tokenizer) &&
        f->header.vocab == rapt_tokenizer_size(s->tokenizer) && f->header.text_bytes == s->text.size &&
        f->header.text_hash == s->hash)
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

rapt_token_file *token_file_draft(const rapt_tokenizer *k, token_place text, const char *out_path,
                                  stop_check stop, file_writer *out, bool *made, rapt_error *err)
{
    source s;
    rapt_token_file *f = NULL;
    rapt_code code = source_open(&s, k, text, err);
    s.stop = stop;
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
    rapt_token_file *f = token_file_draft(k, (token_place){text_path, text_path}, out_path, (stop_check){0}, &out, &made, err);
    if (!made || file_writer_finish(&out, err) == RAPT_OK)
        return f;
    rapt_token_file_close(f);
    return NULL;
}
