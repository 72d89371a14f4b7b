/* train/task/text_share.c: sends tokenizer and tokens from rank 0 to the others. */
#include "train/task/text_data.h"

#include "base/disk.h"
#include "group/group_ops.h"
#include "text/text_in.h"
#include "text/tokenizer.h"
#include "train/ranks/ranks_work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define PORTION ((size_t)1 << 22) /* bytes */

/* ---- the tokenizer -------------------------------------------------------------------------------------------- */

rapt_code text_share_tokenizer(run *r, rapt_tokenizer **k, rapt_error *err)
{
    char *text = r->rank == 0 ? tokenizer_to_text(*k) : NULL;
    size_t size = text ? strlen(text) : 0;
    rapt_code code = r->rank > 0 || text ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the tokenizer's JSON");
    code = ranks_agree(r, code, err);
    if (!code)
        code = ranks_give_text(r, &text, &size, err);
    if (code) {
        free(text);
        return code;
    }
    if (r->rank > 0)
        *k = tokenizer_from_text("rank 0's tokenizer", text, size, err);
    free(text);
    return ranks_agree(r, *k ? RAPT_OK : err->code, err);
}

/* ---- the text ------------------------------------------------------------------------------------------------- */

static rapt_code hash_text_of(const run *r, const file_map *text, uint64_t *hash, rapt_error *err)
{
    XXH3_state_t *state = XXH3_createState();
    rapt_code code = state ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a checksum");
    if (state)
        XXH3_64bits_reset(state);
    for (size_t at = 0, n; at < text->size && !code; at += n) {
        n = text->size - at < PORTION ? text->size - at : PORTION;
        code = run_stopped(r, err);
        XXH3_64bits_update(state, text->data + at, n);
        file_map_forget(text, at, at + n);
    }
    *hash = state ? XXH3_64bits_digest(state) : 0;
    XXH3_freeState(state);
    return code;
}

/* Whether the text here is the one that the tokens are of: one that differs is an older copy, or another file. */
static rapt_code compare_text(const run *r, const char *path, const token_header *h, rapt_error *err)
{
    file_map text;
    uint64_t hash = 0;
    rapt_code code = text_in_map(&text, path, path, err);
    if (code)
        return code;
    if (text.size == h->text_bytes)
        code = hash_text_of(r, &text, &hash, err);
    if (!code && (text.size != h->text_bytes || hash != h->text_hash))
        code = rapt_fail(err, RAPT_ERR_VALUE, "%s is not the same as on rank 0 (%s): copy it to all machines", path,
                         group_host(r->group, 0));
    file_map_close(&text);
    return code;
}

/* ---- the tokens ----------------------------------------------------------------------------------------------- */

/* What rank 0 tells about its file. */
typedef struct offer {
    token_header header;
    char *path; /* path at which a process of its machine, or one that sees its folder, can open it */
    size_t size; /* size of that text */
} offer;

/* Takes over a path. Returns it as others of this machine open it; "" for NULL. */
static char *path_for_others(char *at)
{
    char *path = disk_path_for_others(at ? at : "");
    free(at);
    return path;
}

static rapt_code make_offer(const text_tokens *t, offer *o, rapt_error *err)
{
    o->header = t->file->header;
    o->path = path_for_others(t->out ? file_writer_draft(t->out) : disk_real_path(t->name));
    o->size = o->path ? strlen(o->path) : 0;
    return o->path ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the path of the tokens");
}

/* Whether the file at a path begins with this header: only then it is read. */
static bool begins_with(const char *path, const token_header *h)
{
    file_map m;
    if (!*path || file_map_open(&m, path, NULL) != RAPT_OK)
        return false;
    const bool same = m.size >= sizeof *h && memcmp(m.data, h, sizeof *h) == 0;
    file_map_close(&m);
    return same;
}

/* Opens the offered file if it is visible here; otherwise t->file stays NULL. */
static rapt_code take_offer(const run *r, text_tokens *t, const offer *o, rapt_error *err)
{
    rapt_code code = t->text ? compare_text(r, t->text, &o->header, err) : RAPT_OK;
    if (!code && begins_with(o->path, &o->header))
        t->file = token_file_open((token_place){t->name, o->path}, NULL);
    return code;
}

/* Whether a rank has no tokens yet. */
static rapt_code any_lacks(const run *r, const text_tokens *t, bool *any, rapt_error *err)
{
    uint8_t mine = !t->file, *all = calloc((size_t)r->ranks, 1);
    rapt_code code = ranks_agree(r, all ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the tokens"), err);
    if (!code)
        code = group_share(r->group, &mine, sizeof mine, all, err);
    *any = false;
    for (int i = 0; !code && i < r->ranks; i++)
        *any = *any || all[i];
    free(all);
    return code;
}

/* Every rank takes part in every portion, even if it does not need it or cannot write it; `own` is this rank's failure. */
static rapt_code send_tokens(const run *r, const text_tokens *t, const offer *o, char *portion, file_writer *to, rapt_error *own,
                             rapt_error *err)
{
    const size_t bytes = sizeof o->header + (size_t)o->header.count * o->header.width;
    rapt_code code = RAPT_OK;
    for (size_t at = 0, n; at < bytes && !code; at += n) {
        n = bytes - at < PORTION ? bytes - at : PORTION;
        if (r->rank == 0)
            memcpy(portion, t->file->map.data + at, n);
        code = ranks_give(r, portion, n, err);
        if (!code && to && !own->code)
            file_writer_put(to, portion, n, own);
    }
    return code;
}

static rapt_code open_copy(text_tokens *t, const file_writer *to, rapt_error *err)
{
    char *at = file_writer_draft(to);
    if (at)
        t->file = token_file_open((token_place){t->name, at}, err);
    else
        rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the tokens");
    free(at);
    return t->file ? RAPT_OK : err->code;
}

/* The copy has no name: it is mapped, and vanishes with the process, however that ends. */
static rapt_code copy_tokens(const run *r, text_tokens *t, const offer *o, char *portion, rapt_error *err)
{
    file_writer out, *to = t->file ? NULL : &out;
    rapt_error own = {0};
    char *path = NULL;
    if (to && file_writer_open_temporary(to, "text", &path, &own) != RAPT_OK)
        to = NULL;
    rapt_code code = send_tokens(r, t, o, portion, to, &own, err);
    if (!code && to && !own.code)
        open_copy(t, to, &own);
    if (to) {
        file_writer_discard(to);
        free(path);
    }
    if (code)
        return code;
    return ranks_agree(r, own.code ? rapt_fail(err, own.code, "%s", own.message) : RAPT_OK, err);
}

static rapt_code give_copies(const run *r, text_tokens *t, const offer *o, rapt_error *err)
{
    char *portion = malloc(PORTION);
    rapt_code code = ranks_agree(r, portion ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the tokens"), err);
    if (!code)
        code = copy_tokens(r, t, o, portion, err);
    free(portion);
    return code;
}

rapt_code text_share_tokens(run *r, text_tokens *t, rapt_error *err)
{
    offer o = {.path = NULL};
    bool lacks = false;
    rapt_code code = ranks_agree(r, r->rank == 0 ? make_offer(t, &o, err) : RAPT_OK, err);
    if (!code)
        code = ranks_give(r, &o.header, sizeof o.header, err);
    if (!code)
        code = ranks_give_text(r, &o.path, &o.size, err);
    if (!code) {
        ranks_begin(r);
        code = ranks_end(r, r->rank > 0 ? take_offer(r, t, &o, err) : RAPT_OK, err);
    }
    if (!code)
        code = any_lacks(r, t, &lacks, err);
    if (!code && lacks)
        code = give_copies(r, t, &o, err);
    free(o.path);
    return code;
}
