/* text/spm/spm_encode.c: text to ids, as SentencePieceProcessor::Encode does: it is normalized and cut into pieces by the model;
 * consecutive unknown pieces become one <unk>, or their bytes. For rapt_tokenizer_encode_to. The whole text is one sentence: it
 * is in memory, and one thread works on it. */
#include "text/spm/spm.h"

#include <stdlib.h>

/* The id of a piece that is not cut further. */
static int32_t find_used(const spm *k, const char *piece, size_t size)
{
    const int32_t id = spm_find(k, piece, size);
    return id >= 0 && k->kinds[id] == SPM_UNUSED ? k->unknown : id;
}

/* The words of a text: a space begins one. */
static bool cut_words(const spm *k, const char *text, size_t size, piece_cuts *cuts)
{
    const size_t space = strlen(SPM_SPACE);
    bool ok = true;
    for (size_t start = 0, end; ok && start < size; start = end) {
        for (end = start + piece_character(text + start, size - start); end < size;) {
            if (size - end >= space && memcmp(text + end, SPM_SPACE, space) == 0)
                break;
            end += piece_character(text + end, size - end);
        }
        ok = piece_cuts_add(cuts, end, find_used(k, text + start, end - start));
    }
    return ok;
}

static bool cut_characters(const spm *k, const char *text, size_t size, piece_cuts *cuts)
{
    bool ok = true;
    for (size_t at = 0, length; ok && at < size; at += length) {
        const size_t kept = piece_trie_longest(&k->kept, text + at, size - at);
        length = kept ? kept : piece_character(text + at, size - at);
        ok = piece_cuts_add(cuts, at + length, find_used(k, text + at, length));
    }
    return ok;
}

static bool cut_unigram(const spm *k, const char *text, size_t size, piece_cuts *cuts)
{
    unigram_paths paths = {0};
    const rapt_code code = unigram_cut(&k->unigram, text, size, &paths, cuts);
    unigram_paths_free(&paths);
    return code == RAPT_OK;
}

static bool cut_text(const spm *k, const char *text, size_t size, piece_cuts *cuts)
{
    switch (k->type) {
    case SPM_UNIGRAM: return cut_unigram(k, text, size, cuts);
    case SPM_BPE: return spm_bpe_cut(k, text, size, cuts);
    case SPM_WORD: return cut_words(k, text, size, cuts);
    case SPM_CHAR: return cut_characters(k, text, size, cuts);
    }
    return false;
}

/* ---- pieces ------------------------------------------------------------------------------------------------- */

/* The place of bytes begin .. end - 1 of the normalized text. */
static rapt_span starts_span(const size_t *starts, size_t begin, size_t end)
{
    return starts ? (rapt_span){starts[begin], starts[end]} : (rapt_span){0, 0};
}

/* Bytes begin .. end - 1, each with the place of its character. */
static rapt_code take_byte_pieces(const spm *k, const char *text, const size_t *starts, size_t begin, size_t end,
                                  spm_piece_fn *take, void *context, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t at = begin, length; at < end && !code; at += length) {
        length = piece_character(text + at, end - at);
        spm_piece byte = {.size = 1, .place = starts_span(starts, at, at + length)};
        for (size_t i = at; i < at + length && !code; i++) {
            byte.text = text + i, byte.id = k->bytes[(unsigned char)text[i]];
            code = take(context, &byte, err);
        }
    }
    return code;
}

/* A run of unknown text ends at a known piece. `starts`: from spm_normalize, or NULL. */
static rapt_code take_cuts(const spm *k, const char *text, const size_t *starts, const piece_cuts *cuts, spm_piece_fn *take,
                           void *context, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0, start = 0; i < cuts->count && !code; i++) {
        const piece_cut cut = cuts->list[i];
        const bool unknown = cut.id == k->unknown;
        if (unknown && i + 1 < cuts->count && cuts->list[i + 1].id == k->unknown)
            continue;
        const spm_piece piece = {text + start, cut.end - start, cut.id, starts_span(starts, start, cut.end)};
        code = unknown && k->byte_fallback ? take_byte_pieces(k, text, starts, start, cut.end, take, context, err)
                                           : take(context, &piece, err);
        start = cut.end;
    }
    return code;
}

static rapt_code cut_normal(const spm *k, const char *text, const size_t *starts, size_t size, spm_piece_fn *take, void *context,
                            rapt_error *err)
{
    piece_cuts cuts = {0};
    rapt_code code = RAPT_OK;
    if (size > PIECE_MAX_TEXT)
        code = rapt_fail(err, RAPT_ERR_VALUE, "a text of %zu bytes once it is normalized; SentencePiece models take %zu at most",
                         size, PIECE_MAX_TEXT);
    else if (!cut_text(k, text, size, &cuts))
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the pieces of %zu bytes", size);
    if (!code)
        code = take_cuts(k, text, starts, &cuts, take, context, err);
    free(cuts.list);
    return code;
}

rapt_code spm_cut(const spm *k, const char *text, size_t size, bool places, spm_piece_fn *take, void *context, rapt_error *err)
{
    buffer normal = {0}, starts = {0};
    rapt_code code = spm_normalize(&k->rules, &k->kept, text, size, &normal, places ? &starts : NULL)
                         ? cut_normal(k, normal.data, places ? (const void *)starts.data : NULL, normal.size, take, context, err)
                         : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory to normalize %zu bytes", size);
    buffer_free(&normal);
    buffer_free(&starts);
    return code;
}

/* ---- ids ---------------------------------------------------------------------------------------------------- */

rapt_code spm_send_id(spm_sender *s, int32_t id, rapt_span place, rapt_error *err)
{
    if (s->placed)
        return placed_ids_put(s->placed, id, (rapt_span){s->begin + place.begin, s->begin + place.end}, err);
    s->ids[s->count++] = id;
    return s->count < SPM_PORTION ? RAPT_OK : spm_send_rest(s, err);
}

rapt_code spm_send_rest(spm_sender *s, rapt_error *err)
{
    const size_t count = s->count;
    s->count = 0;
    return count ? s->sink(s->context, s->ids, count, err) : RAPT_OK;
}

static rapt_code send_piece(void *context, const spm_piece *piece, rapt_error *err)
{
    return spm_send_id(context, piece->id, piece->place, err);
}

rapt_code spm_encode_to(const rapt_tokenizer *k, const char *text, size_t size, bool specials, rapt_ids_fn *sink, void *context,
                        rapt_error *err)
{
    spm_sender sender = {.sink = sink, .context = context};
    (void)specials; /* control pieces have no text; the code that knows the model adds them */
    rapt_code code = spm_cut(spm_of(k), text, size, false, send_piece, &sender, err);
    return code ? code : spm_send_rest(&sender, err);
}

rapt_code spm_encode_offsets(const rapt_tokenizer *k, const char *text, size_t size, bool specials, placed_ids *out,
                             rapt_error *err)
{
    spm_sender sender = {.placed = out};
    (void)specials;
    return spm_cut(spm_of(k), text, size, true, send_piece, &sender, err);
}
