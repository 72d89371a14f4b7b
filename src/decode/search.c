/* decode/search.c: what greedy and beam search share: the first pass over the sources, one decoding step, and the rules for
 * lengths, prefixes and repeats. greedy.c and beam.c choose tokens. */
#include "decode/search.h"

#include "base/math.h"
#include "decode/whole_text.h"
#include "nn/decoder_parts.h"
#include "tape/tape_core.h"

#include <math.h>
#include <string.h>

const kernels *search_kernels(const rapt_tape *t)
{
    return t->k;
}

static size_t search_requested_limit(const rapt_model *m, size_t source_count, double ratio, size_t prefix_count)
{
    double requested = (ratio > 0 ? ratio : 2) * (double)source_count + 10 + (double)prefix_count;
    double positions = (double)m->translation.net->config.max_positions;
    size_t max_len = m->translation.max_len;
    if (ratio <= 0 && m->search.max_new_tokens > 0)
        requested = (double)m->search.max_new_tokens + (double)prefix_count;
    else if (ratio <= 0 && m->search.max_length > 1)
        requested = (double)m->search.max_length - 1; /* without the start token */
    bool padded = m->translation.pad_to_max && (ratio <= 0 || requested > (double)max_len);
    return padded ? max_len : (size_t)fmin(requested, positions);
}

/* It depends on the sentence alone. */
size_t search_limit(const rapt_model *m, const search_options *o, size_t source_count, size_t prefix_count)
{
    size_t max = m->translation.net->config.max_positions, min = prefix_count + 1;
    if (prefix_count > 0 && o->policy) /* the prefix comes after the token that is forced */
        min += o->policy->forced_bos.count;
    size_t limit = search_requested_limit(m, source_count, o->max_ratio, prefix_count);
    limit = limit > min ? limit : min;
    return limit < max ? limit : max;
}

double search_penalty(double a, size_t length)
{
    return a == 0 ? 1 : math_pow((5 + (double)length) / 6, a);
}

size_t search_max_limit(const search_batch *b)
{
    size_t max = 1;
    for (size_t i = 0; i < b->source.batch; i++)
        max = b->limits[i] > max ? b->limits[i] : max;
    return max;
}

rapt_code search_start(const searcher *on, const search_batch *batch, size_t beam, rapt_error *err)
{
    rapt_tape_begin(on->t, (rapt_pass){0});
    rapt_tokens source = batch->source;
    source.lens = batch->source_lens; /* no padding is encoded */
    rapt_tensor *encoded = rapt_encoder_forward(on->t, &on->m->encoder, source, NULL);
    rapt_decoder_start(on->t, &on->m->decoder, on->state, encoded, NULL,
                       (rapt_decoder_sizes){beam, search_max_limit(batch), on->kv_cache});
    return rapt_tape_status(on->t, err);
}

rapt_code search_step(const searcher *on, const int32_t *tokens, size_t rows, rapt_real **logits, rapt_error *err)
{
    rapt_tape_begin(on->t, (rapt_pass){0});
    *logits = rapt_decoder_step(on->t, &on->m->decoder, on->state, (rapt_tokens){tokens, rows, 1})->data;
    return rapt_tape_status(on->t, err);
}

rapt_code search_finish(search_run *s, const searcher *on, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    while (s->rows > 0 && !code) {
        rapt_real *logits;
        code = search_step(on, s->tokens, s->rows, &logits, err);
        code = code ? code : s->extend(s, on->state, logits, err);
    }
    return code;
}

rapt_code search_step_parts(const searcher *on, const search_part *parts, size_t count, rapt_real **logits, rapt_error *err)
{
    rapt_tape_begin(on->t, (rapt_pass){0});
    decoder_part *steps = tape_alloc(on->t, count, sizeof *steps);
    for (size_t i = 0; steps && i < count; i++)
        steps[i] = (decoder_part){parts[i].state, parts[i].run->tokens, parts[i].run->rows};
    if (steps)
        *logits = decoder_step_parts(on->t, &on->m->decoder, steps, count)->data;
    return rapt_tape_status(on->t, err);
}

bool search_is_stopped(const search_stop *stop, size_t sentence)
{
    bool is = stop->asked && stop->asked(stop->context, sentence);
    if (is)
        stop->stopped[sentence] = true;
    return is;
}

int32_t search_forced(const search_batch *b, size_t sentence, size_t length)
{
    return b->prefixes && length < b->prefixes[sentence].count ? b->prefixes[sentence].ids[length] : -1;
}

void search_ban_repeats(size_t n, const int32_t *tokens, size_t length, rapt_real *logits)
{
    if (n == 0 || length < n)
        return;
    const int32_t *last = tokens + length - (n - 1);
    for (size_t i = 0; i + n <= length; i++)
        if (memcmp(tokens + i, last, (n - 1) * sizeof *last) == 0)
            logits[tokens[i + n - 1]] = -INFINITY;
}

void search_ban(const search_options *o, const int32_t *tokens, size_t length, size_t classes, rapt_real *logits)
{
    if (!o->whole || !whole_text_is_open(o->whole, tokens, length))
        search_ban_repeats(o->no_repeat, tokens, length, logits);
    if (o->whole)
        whole_text_ban(o->whole, tokens, length, classes, logits);
}

rapt_code search_check(rapt_real max, rapt_real sum, rapt_error *err)
{
    bool finite = isfinite(max) && isfinite(sum);
    return finite ? RAPT_OK : rapt_fail(err, RAPT_ERR_NOT_FINITE, "the model computes what is not a finite number");
}
