/* text/spm/spm_pieces.c: checks the pieces of a SentencePiece model, and computes from them. For spm_read.c. It refuses the same
 * models as model_interface.cc, InitializePieces; scores mean the same as in unigram_model.cc. */
#include "text/spm/spm.h"

#include "base/quote.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_PIECES = (1 << 24) - 1, MAX_BYTES = 7999, BYTE_PIECE = 6 };
#define UNKNOWN_PENALTY 10.0F
#define KEPT_SCORE 0.1

static rapt_code fail_piece(size_t id, const char *reason, rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_FORMAT, "piece %zu %s", id, reason);
}

static rapt_code fail_no_memory(rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a piece");
}

static bool is_of_text(spm_kind kind)
{
    return kind == SPM_NORMAL || kind == SPM_USER_DEFINED || kind == SPM_UNUSED;
}

/* The byte of a piece such as "<0x0A>", or -1. */
static int byte_of_piece(const char *piece, size_t size)
{
    char own[BYTE_PIECE + 1];
    for (int byte = 0; size == BYTE_PIECE && byte < 256; byte++) {
        snprintf(own, sizeof own, "<0x%02X>", (unsigned)byte & 0xFF);
        if (memcmp(own, piece, BYTE_PIECE) == 0)
            return byte;
    }
    return -1;
}

/* Some converters add such a piece besides <0x00>; it is never found. */
static bool is_lone_nul(const char *piece, size_t size, spm_kind kind)
{
    return kind == SPM_UNUSED && size == 1 && *piece == '\0';
}

static rapt_code check_piece(const spm *k, const char *piece, size_t size, float score, spm_kind kind, rapt_error *err)
{
    const size_t id = k->pieces.size;
    if (id >= MAX_PIECES)
        return rapt_fail(err, RAPT_ERR_FORMAT, "more than %d pieces", MAX_PIECES);
    if (size == 0 || size > MAX_BYTES)
        return fail_piece(id, size ? "is too long" : "is empty", err);
    if (memchr(piece, '\0', size) && !is_lone_nul(piece, size, kind))
        return fail_piece(id, "holds a NUL", err);
    if (k->type == SPM_UNIGRAM && !isfinite(score))
        return fail_piece(id, "has a score that is not finite", err);
    if (k->type == SPM_BPE && isnan(score))
        return fail_piece(id, "has a score that is no number", err);
    const bool pieces = is_of_text(kind) || k->type == SPM_BPE, reserved = !is_of_text(kind) || k->type == SPM_BPE;
    if ((pieces && token_list_find(&k->pieces, piece, size) >= 0) ||
        (reserved && token_list_find(&k->reserved, piece, size) >= 0))
        return fail_piece(id, "has the text of an earlier one", err);
    if (kind == SPM_UNKNOWN && k->unknown >= 0)
        return fail_piece(id, "is unknown, as an earlier one is", err);
    if (kind == SPM_BYTE && byte_of_piece(piece, size) < 0)
        return fail_piece(id, "is a byte, but not called <0x00> to <0xFF>", err);
    return RAPT_OK;
}

/* Puts the piece as in a text. */
static bool put_text_of_piece(spm *k, size_t id, const char *piece, size_t size, spm_kind kind)
{
    if (kind == SPM_BYTE)
        return token_list_put(&k->tokens, id, &(char){(char)byte_of_piece(piece, size)}, 1, false);
    if (!is_of_text(kind))
        return token_list_put(&k->tokens, id, piece, size, false);
    buffer text = {0};
    bool ok = spm_append_text(&text, piece, size) && token_list_put(&k->tokens, id, text.data, text.size, false);
    buffer_free(&text);
    return ok;
}

static bool put_piece(spm *k, size_t id, const char *piece, size_t size, spm_kind kind)
{
    return ARRAY_RESERVE(&k->kinds, &k->kinds_capacity, id + 1) && ARRAY_RESERVE(&k->scores, &k->scores_capacity, id + 1) &&
           token_list_put(&k->pieces, id, piece, size, is_of_text(kind) && !is_lone_nul(piece, size, kind)) &&
           (is_of_text(kind) || token_list_put(&k->reserved, id, piece, size, true)) &&
           (kind != SPM_USER_DEFINED || piece_trie_add(&k->kept, piece, size, (int32_t)id)) &&
           put_text_of_piece(k, id, piece, size, kind);
}

rapt_code spm_add_piece(spm *k, const char *piece, size_t size, float score, spm_kind kind, rapt_error *err)
{
    const size_t id = k->pieces.size;
    if (k->byte_fallback && size == 1 && *piece == '\0')
        kind = SPM_UNUSED;
    rapt_code code = check_piece(k, piece, size, score, kind, err);
    if (code)
        return code;
    if (!put_piece(k, id, piece, size, kind))
        return fail_no_memory(err);
    k->kinds[id] = (unsigned char)kind;
    k->scores[id] = score;
    k->has_unused = k->has_unused || kind == SPM_UNUSED;
    if (kind == SPM_UNKNOWN)
        k->unknown = (int32_t)id;
    if (kind == SPM_BYTE)
        k->bytes[byte_of_piece(piece, size)] = (int32_t)id;
    return RAPT_OK;
}

/* ---- once all are there ------------------------------------------------------------------------------------- */

static rapt_code check_bytes(const spm *k, rapt_error *err)
{
    for (int i = 0; i < 256; i++) {
        if (k->byte_fallback && k->bytes[i] < 0)
            return rapt_fail(err, RAPT_ERR_FORMAT, "byte fallback without a piece for the byte 0x%02X", (unsigned)i);
        if (!k->byte_fallback && k->bytes[i] >= 0)
            return fail_piece((size_t)k->bytes[i], "is a byte, where there is no byte fallback", err);
    }
    return RAPT_OK;
}

/* A user-defined piece gets a score that grows with its bytes, so that it always wins; the constants are SentencePiece's. */
static void score_pieces(spm *k)
{
    float min = FLT_MAX;
    for (size_t i = 0; i < k->pieces.size; i++) {
        const int more = (int)k->pieces.spans[i].length - 1;
        k->unigram.scores[i] = k->kinds[i] == SPM_USER_DEFINED ? (float)(KEPT_SCORE * more) : k->scores[i];
        if (k->kinds[i] == SPM_NORMAL && k->scores[i] < min)
            min = k->scores[i];
    }
    k->unigram.single = true;
    k->unigram.unknown = k->unknown;
    k->unigram.unknown_score = min - UNKNOWN_PENALTY;
}

static rapt_code make_unigram(spm *k, rapt_error *err)
{
    k->unigram.scores = malloc((k->pieces.size + 1) * sizeof *k->unigram.scores);
    if (!k->unigram.scores)
        return fail_no_memory(err);
    score_pieces(k);
    for (size_t i = 0; i < k->pieces.size; i++) {
        size_t size;
        const char *piece = token_list_at(&k->pieces, (int64_t)i, &size);
        if ((k->kinds[i] == SPM_NORMAL || k->kinds[i] == SPM_USER_DEFINED) &&
            !piece_trie_add(&k->unigram.trie, piece, size, (int32_t)i))
            return fail_no_memory(err);
    }
    return RAPT_OK;
}

/* Whether a space follows another character. */
static bool has_inner_space(const char *piece, size_t size)
{
    const size_t space = strlen(SPM_SPACE);
    bool other = false;
    for (size_t at = 0; at < size;) {
        const bool is_space = size - at >= space && memcmp(piece + at, SPM_SPACE, space) == 0;
        if (is_space && other)
            return true;
        other = other || !is_space;
        at += is_space ? space : 1;
    }
    return false;
}

static bool keeps_words_apart(const spm *k)
{
    for (size_t i = 0, size = 0; i < k->pieces.size; i++) {
        const char *piece = token_list_at(&k->pieces, (int64_t)i, &size);
        if (k->kinds[i] == SPM_NORMAL && has_inner_space(piece, size))
            return false;
    }
    return !k->has_unused;
}

rapt_code spm_finish_pieces(spm *k, rapt_error *err)
{
    if (k->unknown < 0 && !k->byte_fallback)
        return rapt_fail(err, RAPT_ERR_FORMAT, "no piece is the unknown one");
    k->words_apart = keeps_words_apart(k);
    rapt_code code = check_bytes(k, err);
    if (!code && k->type == SPM_UNIGRAM && k->pieces.found == 0)
        code = rapt_fail(err, RAPT_ERR_FORMAT, "no piece that a text could become");
    return code || k->type != SPM_UNIGRAM ? code : make_unigram(k, err);
}
