/* io/place/place.c: translates names with the patterns of a table, and places parameters in tensors. */
#include "io/place/place.h"

#include "nn/block.h"
#include "tensor/params.h"

#include <stdio.h>
#include <string.h>

/* ---- names ---------------------------------------------------------------------------------------------------- */

static bool place_match_name(const char *pattern, const char *name, place_match *m)
{
    *m = (place_match){.last = ""};
    for (; *pattern; pattern++) {
        if (*pattern == '@') {
            m->last = name;
            return strcmp(name, "weight") == 0 || strcmp(name, "bias") == 0;
        }
        if (*pattern == '#') {
            size_t digits = strspn(name, "0123456789");
            if (digits == 0 || digits >= sizeof m->layer)
                return false;
            memcpy(m->layer, name, digits);
            m->layer[digits] = '\0';
            name += digits;
        } else if (*pattern != *name++) {
            return false;
        }
    }
    return *name == '\0';
}

void place_expand(const char *pattern, const place_match *m, char name[PLACE_NAME])
{
    size_t used = 0;
    for (; *pattern && used < PLACE_NAME - 1; pattern++) {
        const char letter[2] = {*pattern, '\0'};
        const char *text = *pattern == '#'   ? m->layer
                           : *pattern == '@' ? m->last
                           : *pattern == '%' ? (strcmp(m->last, "bias") == 0 ? "beta" : "gamma")
                                             : letter;
        used += (size_t)snprintf(name + used, PLACE_NAME - used, "%s", text);
    }
}

/* Whether the tensor of a row belongs to it, and not to the parameter of an earlier row. */
static bool place_is_owner(const place_model *of, const place_row *n, const place_match *m)
{
    char ours[PLACE_NAME];
    for (const place_row *other = of->of->rows; other < n && !(n->how & PLACE_PART); other++) {
        if (strcmp(other->theirs, n->theirs) != 0)
            continue;
        place_expand(other->ours, m, ours);
        if (params_find(of->params, ours))
            return false;
    }
    return true;
}

const place_row *place_next(const place_model *of, const place_row *last, const char *ours, place_match *m)
{
    for (const place_row *n = last ? last + 1 : of->of->rows; n->ours; n++)
        if (place_match_name(n->ours, ours, m) && place_is_owner(of, n, m))
            return n;
    return NULL;
}

static const char *place_prefix(const place_model *of)
{
    return of->of->prefix ? of->of->prefix : "";
}

void place_name(const place_model *of, const place_row *n, const place_match *m, char bare[PLACE_NAME],
                 char whole[PLACE_NAME])
{
    const bool has_none = n->theirs[0] == '/';
    place_expand(n->theirs + has_none, m, bare);
    snprintf(whole, PLACE_NAME, "%s%s", has_none ? "" : place_prefix(of), bare);
}

bool place_is_unused(const place_model *of, const char *name)
{
    place_match m;
    const char *prefix = place_prefix(of);
    const size_t length = strlen(prefix);
    const char *bare = strncmp(name, prefix, length) == 0 ? name + length : name;
    for (const char *const *p = of->of->unused; p && *p; p++)
        if (place_match_name(*p, bare, &m))
            return true;
    return false;
}

/* ---- values --------------------------------------------------------------------------------------------------- */

/* Rows of the matrix that contains a part of `own` rows. */
static size_t place_rows_with(const rapt_block_config *c, unsigned part, size_t own)
{
    switch (part) {
    case PLACE_QUERY:
    case PLACE_KEY:
    case PLACE_VALUE: return block_head_features(c) * c->heads + 2 * block_kv_features(c);
    case PLACE_FIRST_HALF:
    case PLACE_SECOND_HALF: return 2 * own;
    case PLACE_HEAD_QUERY:
    case PLACE_HEAD_KEY:
    case PLACE_HEAD_VALUE: return 3 * own;
    case PLACE_BEHIND_TWO: return own + 2;
    default: return own;
    }
}

int place_shape(const place_model *of, const place_row *n, const rapt_tensor *ours, size_t shape[2])
{
    const unsigned part = n->how & PLACE_PART;
    const size_t rows = place_rows_with(of->block, part, ours->shape[0]), columns = ours->ndim == 2 ? ours->shape[1] : 1;
    const bool turned = part == PLACE_ONE_ROW || (ours->ndim == 2 && n->how & PLACE_TRANSPOSED);
    shape[0] = turned ? columns : rows;
    shape[1] = turned ? rows : columns;
    return part == PLACE_ONE_ROW ? 2 : ours->ndim;
}

/* The row of the tensor that is row 0 of a part of `own` rows; heads have d features, queries q, keys and values kv. */
static size_t place_first(unsigned part, size_t own, size_t d, size_t q, size_t kv)
{
    switch (part) {
    case PLACE_KEY: return q;
    case PLACE_VALUE: return q + kv;
    case PLACE_SECOND_HALF: return own;
    case PLACE_HEAD_KEY: return d;
    case PLACE_HEAD_VALUE: return 2 * d;
    case PLACE_BEHIND_TWO: return 2;
    default: return 0;
    }
}

place_slice place_slice_of(const place_model *of, const place_row *n, const rapt_tensor *ours)
{
    const size_t d = block_head_features(of->block), q = d * of->block->heads, kv = block_kv_features(of->block);
    const unsigned part = n->how & PLACE_PART;
    const bool matrix = ours->ndim == 2, by_head = part >= PLACE_HEAD_QUERY && part <= PLACE_HEAD_VALUE;
    place_slice s = {.first = place_first(part, ours->shape[0], d, q, kv), .columns = matrix ? ours->shape[1] : 1};
    s.transposed = (n->how & PLACE_TRANSPOSED && matrix) || part == PLACE_ONE_ROW;
    s.plus_one = n->how & PLACE_PLUS_ONE;
    s.turned = n->how & PLACE_ROTARY ? of->block->rotary_dim : 0;
    s.interleaved = n->how & PLACE_INTERLEAVED;
    s.head = by_head || s.turned || s.interleaved ? d : 0;
    s.step = by_head ? 3 * d : d;
    return s;
}
