/* train/checkpoint/moments.c: goes through moments part by part, and moves parts between ranks. */
#include "train/checkpoint/moments.h"

#include "group/group_ops.h"
#include "io/safetensors.h"
#include "tensor/params.h"
#include "train/optimizer/adam_moment.h"
#include "train/optimizer/moments8.h"

#include <string.h>

bool moments_at_first(const moments *m)
{
    return !m->group || rapt_group_rank(m->group) == 0;
}

/* ---- parts ---------------------------------------------------------------------------------------------------- */

size_t moments_part_max(void)
{
    return SAFETENSORS_PORTION;
}

static adam_moment moment_of(const moments *m, const moments_part *part)
{
    return adam_moment_of(m->adam, part->param, part->second);
}

/* Whether there is a moment of that kind. */
static bool is_moment(const moments *m, const rapt_params *set, const moments_part *part)
{
    if (params_at(set, part->param)->buffer)
        return false;
    const adam_moment moment = moment_of(m, part);
    return moment.data && moment.in_8_bits == part->in_8_bits;
}

/* From the first to the second moment, or to the next parameter. */
static void pass_moment(moments_part *part)
{
    part->param += part->second;
    part->second = !part->second;
}

/* Moves to the beginning of the next moment; false: there is none. */
static bool next_moment(const moments *m, const rapt_params *set, moments_part *part, bool begin)
{
    const size_t count = rapt_params_count(set);
    if (!begin)
        pass_moment(part);
    for (;; part->in_8_bits = true, part->param = 0) {
        while (part->param < count && !is_moment(m, set, part))
            pass_moment(part);
        if (part->param < count || part->in_8_bits)
            break;
    }
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
    while (part->first == (size = moment_of(m, part).bytes))
        if (!next_moment(m, set, part, false))
            return false;
    part->count = size - part->first < max ? size - part->first : max;
    return true;
}

/* ---- their owners --------------------------------------------------------------------------------------------- */

/* The byte of a moment at which an element begins; in 8 bits the element must be the first of a span. */
static size_t byte_of(const moments_part *part, const rapt_param *p, size_t element)
{
    return part->in_8_bits ? moments8_at(p, element) : element * sizeof(rapt_real);
}

/* Writes the ranks' bounds from byte `at` of a part on, relative to `at`; returns the number of bytes that they cover. 0: every
 * rank has everything. */
static size_t owned_from(const moments *m, const rapt_param *p, const moments_part *part, size_t at)
{
    const int ranks = rapt_group_size(m->group);
    const size_t limit = part->first + part->count;
    const size_t element = part->in_8_bits ? moments8_element(p, at) : at / sizeof(rapt_real);
    size_t end = m->segment(m->context, part->param, element, m->bounds);
    if (end == 0)
        return 0;
    end = byte_of(part, p, end);
    end = end < limit ? end : limit;
    for (int i = 0; i <= ranks; i++) {
        const size_t bound = byte_of(part, p, m->bounds[i]);
        m->bounds[i] = (bound < at ? at : bound > end ? end : bound) - at;
    }
    return end - at;
}

static void copy_own(const moments *m, char *to, const char *from)
{
    const int range = group_range(rapt_group_rank(m->group), rapt_group_size(m->group));
    const size_t begin = m->bounds[range], end = m->bounds[range + 1];
    memcpy(to + begin, from + begin, end - begin);
}

rapt_code moments_collect(const moments *m, const moments_part *part, void *to, rapt_error *err)
{
    const rapt_param *p = adam_param(m->adam, part->param);
    char *own = (char *)moment_of(m, part).data + part->first, *out = to;
    const bool first = moments_at_first(m);
    rapt_code code = RAPT_OK;
    for (size_t done = 0, n; done < part->count && !code; done += n) {
        n = m->group ? owned_from(m, p, part, part->first + done) : 0;
        if (n == 0) {
            n = part->count - done;
            if (first)
                memcpy(out + done, own + done, n);
            continue;
        }
        if (first)
            copy_own(m, out + done, own + done);
        code = group_collect(m->group, first ? out + done : own + done, m->bounds, 1, err);
    }
    return code;
}

rapt_code moments_hand_out(const moments *m, const moments_part *part, void *from, rapt_error *err)
{
    const rapt_param *p = adam_param(m->adam, part->param);
    char *own = (char *)moment_of(m, part).data + part->first, *in = from;
    rapt_code code = m->group ? group_broadcast(m->group, 0, from, part->count, err) : RAPT_OK;
    for (size_t done = 0, n; done < part->count && !code; done += n) {
        n = m->group ? owned_from(m, p, part, part->first + done) : 0;
        if (n > 0)
            copy_own(m, own + done, in + done);
        else
            memcpy(own + done, in + done, (n = part->count - done));
    }
    return code;
}
