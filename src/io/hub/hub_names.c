/* io/hub/hub_names.c: translates names with the family's patterns. One matrix of a file may hold several of rapt's. */
#include "io/hub/hub_names.h"

#include "nn/block.h"
#include "tensor/params.h"

#include <stdio.h>
#include <string.h>

/* ---- names ---------------------------------------------------------------------------------------------------- */

static bool hub_names_match(const char *pattern, const char *name, hub_match *m)
{
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

static void hub_names_expand(const char *pattern, const hub_match *m, char name[HUB_NAME])
{
    size_t used = 0;
    for (; *pattern && used < HUB_NAME - 1; pattern++) {
        const char letter[2] = {*pattern, '\0'}, *text = *pattern == '#' ? m->layer : *pattern == '@' ? m->last : letter;
        used += (size_t)snprintf(name + used, HUB_NAME - used, "%s", text);
    }
}

static const hub_name *hub_names_rows_of(const hub_naming *of)
{
    return of->layout ? of->layout->names : of->family->names;
}

static const char *hub_names_prefix(const hub_naming *of)
{
    return of->layout ? "" : of->family->prefix;
}

/* Whether the tensor of a row belongs to it, and not to the parameter of an earlier row. */
static bool hub_names_is_owner(const hub_naming *of, const hub_name *n, const hub_match *m)
{
    char ours[HUB_NAME];
    for (const hub_name *other = hub_names_rows_of(of); other < n && n->part == HUB_WHOLE; other++) {
        hub_names_expand(other->ours, m, ours);
        if (strcmp(other->theirs, n->theirs) == 0 && params_find(of->params, ours))
            return false;
    }
    return true;
}

const hub_name *hub_names_next(const hub_naming *of, const hub_name *last, const char *ours, hub_match *m)
{
    for (const hub_name *n = last ? last + 1 : hub_names_rows_of(of); n->ours; n++)
        if (hub_names_match(n->ours, ours, m) && hub_names_is_owner(of, n, m))
            return n;
    return NULL;
}

/* Names of the head have no prefix. */
void hub_names_of(const hub_naming *of, const hub_name *n, const hub_match *m, char bare[HUB_NAME], char whole[HUB_NAME])
{
    hub_names_expand(n->theirs, m, bare);
    const bool head = strncmp(bare, "lm_head.", 8) == 0 || strncmp(bare, "embed_out.", 10) == 0 ||
                      strcmp(bare, "final_logits_bias") == 0;
    snprintf(whole, HUB_NAME, "%s%s", head ? "" : hub_names_prefix(of), bare);
}

bool hub_names_unused(const hub_naming *of, const char *name)
{
    hub_match m;
    const char *prefix = hub_names_prefix(of);
    const size_t length = strlen(prefix);
    const char *bare = strncmp(name, prefix, length) == 0 ? name + length : name;
    for (const char *const *p = of->layout ? of->layout->unused : of->family->unused; *p; p++)
        if (hub_names_match(*p, bare, &m))
            return true;
    return false;
}

/* ---- values --------------------------------------------------------------------------------------------------- */

/* Rows of the matrix that contains a part of `own` rows. */
static size_t hub_names_rows(const rapt_block_config *c, hub_part part, size_t own)
{
    switch (part) {
    case HUB_QUERY:
    case HUB_KEY:
    case HUB_VALUE: return block_head_features(c) * c->heads + 2 * block_kv_features(c);
    case HUB_FIRST_HALF:
    case HUB_SECOND_HALF: return 2 * own;
    case HUB_HEAD_QUERY:
    case HUB_HEAD_KEY:
    case HUB_HEAD_VALUE: return 3 * own;
    case HUB_BEHIND_TWO: return own + 2;
    case HUB_WHOLE:
    case HUB_ONE_ROW: break;
    }
    return own;
}

int hub_names_shape(const hub_naming *of, const hub_name *n, const rapt_tensor *ours, size_t shape[2])
{
    const size_t rows = hub_names_rows(of->block, n->part, ours->shape[0]), columns = ours->ndim == 2 ? ours->shape[1] : 1;
    const bool turned = n->part == HUB_ONE_ROW || (ours->ndim == 2 && n->fold == HUB_TRANSPOSED);
    shape[0] = turned ? columns : rows;
    shape[1] = turned ? rows : columns;
    return n->part == HUB_ONE_ROW ? 2 : ours->ndim;
}

hub_slice hub_names_slice(const hub_naming *of, const hub_name *n, const rapt_tensor *ours)
{
    const size_t d = block_head_features(of->block), q = d * of->block->heads, kv = block_kv_features(of->block);
    const bool matrix = ours->ndim == 2, by_head = n->part >= HUB_HEAD_QUERY && n->part <= HUB_HEAD_VALUE;
    hub_slice s = {.columns = matrix ? ours->shape[1] : 1};
    s.transposed = (n->fold == HUB_TRANSPOSED && matrix) || n->part == HUB_ONE_ROW;
    s.plus_one = n->fold == HUB_PLUS_ONE;
    s.turned = n->fold == HUB_ROTARY ? of->block->rotary_dim : 0;
    s.interleaved = n->fold == HUB_INTERLEAVED;
    s.head = by_head || s.turned || s.interleaved ? d : 0;
    s.step = by_head ? 3 * d : d;
    switch (n->part) {
    case HUB_KEY: s.first = q; break;
    case HUB_VALUE: s.first = q + kv; break;
    case HUB_SECOND_HALF: s.first = ours->shape[0]; break;
    case HUB_HEAD_KEY: s.first = d; break;
    case HUB_HEAD_VALUE: s.first = 2 * d; break;
    case HUB_BEHIND_TWO: s.first = 2; break;
    case HUB_QUERY:
    case HUB_FIRST_HALF:
    case HUB_HEAD_QUERY:
    case HUB_WHOLE:
    case HUB_ONE_ROW: break;
    }
    return s;
}
