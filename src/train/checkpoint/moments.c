/* train/checkpoint/moments.c: see moments.h. */
#include "train/checkpoint/moments.h"

#include "group/group_ops.h"
#include "io/safetensors.h"

#include <string.h>

bool moments_at_first(const moments *m)
{
    return !m->group || rapt_group_rank(m->group) == 0;
}

/* ---- parts ---------------------------------------------------------------------------------------------------- */

size_t moments_part_max(void)
{
    return SAFETENSORS_PORTION / sizeof(rapt_real);
}

static rapt_real *moment_of(const moments *m, const moments_part *part)
{
    return part->second ? rapt_adam_second_moment(m->adam, part->param) : rapt_adam_first_moment(m->adam, part->param);
}

/* Moves to the beginning of the next moment that has elements; false: there is none. */
static bool next_moment(const moments *m, const rapt_params *set, moments_part *part, bool begin)
{
    size_t count = rapt_params_count(set);
    if (!begin && !part->second)
        part->second = true;
    else if (!begin)
        part->param++, part->second = false;
    while (part->param < count && (rapt_params_at(set, part->param)->buffer || !rapt_adam_first_moment(m->adam, part->param)))
        part->param++;
    part->first = part->count = 0;
    return part->param < count;
}

bool moments_next(const moments *m, const rapt_params *set, moments_part *part)
{
    const bool begin = part->count == 0;
    size_t size, max = moments_part_max();
    part->first += part->count;
    if (begin && !next_moment(m, set, part, true))
        return false;
    while (part->first == (size = rapt_tensor_size(&rapt_params_at(set, part->param)->value)))
        if (!next_moment(m, set, part, false))
            return false;
    part->count = size - part->first < max ? size - part->first : max;
    return true;
}

/* ---- their owners --------------------------------------------------------------------------------------------- */

/* The ranks' bounds from `at` of a part on, relative to `at`; returns how many elements they are for. 0: all ranks have all. */
static size_t owned_from(const moments *m, const moments_part *part, size_t at)
{
    const int ranks = rapt_group_size(m->group);
    const size_t limit = part->first + part->count;
    size_t end = m->segment(m->context, part->param, at, m->bounds);
    if (end == 0)
        return 0;
    end = end < limit ? end : limit;
    for (int i = 0; i <= ranks; i++)
        m->bounds[i] = (m->bounds[i] < at ? at : m->bounds[i] > end ? end : m->bounds[i]) - at;
    return end - at;
}

static void copy_own(const moments *m, rapt_real *to, const rapt_real *from)
{
    const int range = group_range(rapt_group_rank(m->group), rapt_group_size(m->group));
    const size_t begin = m->bounds[range], end = m->bounds[range + 1];
    memcpy(to + begin, from + begin, (end - begin) * sizeof *to);
}

rapt_code moments_collect(const moments *m, const moments_part *part, rapt_real *to, rapt_error *err)
{
    rapt_real *own = moment_of(m, part);
    const bool first = moments_at_first(m);
    const size_t end = part->first + part->count;
    rapt_code code = RAPT_OK;
    for (size_t at = part->first, n; at < end && !code; at += n) {
        n = m->group ? owned_from(m, part, at) : 0;
        if (n == 0) {
            n = end - at;
            if (first)
                memcpy(to + (at - part->first), own + at, n * sizeof *to);
            continue;
        }
        if (first)
            copy_own(m, to + (at - part->first), own + at);
        code = group_collect(m->group, first ? to + (at - part->first) : own + at, m->bounds, sizeof *own, err);
    }
    return code;
}

rapt_code moments_hand_out(const moments *m, const moments_part *part, rapt_real *from, rapt_error *err)
{
    rapt_real *own = moment_of(m, part);
    const size_t end = part->first + part->count;
    rapt_code code = m->group ? group_broadcast(m->group, 0, from, part->count * sizeof *from, err) : RAPT_OK;
    for (size_t at = part->first, n; at < end && !code; at += n) {
        n = m->group ? owned_from(m, part, at) : 0;
        if (n > 0)
            copy_own(m, own + at, from + (at - part->first));
        else
            memcpy(own + at, from + (at - part->first), (n = end - at) * sizeof *own);
    }
    return code;
}
