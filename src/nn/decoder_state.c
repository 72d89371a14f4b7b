/* nn/decoder_state.c: the state of decoding a batch of translations: two KV caches, and which rows translate which sentence.
 * For the decoder's steps in decoder.c. */
#include "nn/decoder_state.h"

#include "nn/kv_cache.h"
#include "ops/attention_panels.h"
#include "tape/tape_core.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)4 << 10)
#define LONGER 8 /* positions that the self-attention cache has at first beyond the tokens of the source: few translations need
                    more, and memory for the max length would be touched here and there in each sentence */

rapt_decoder_state *rapt_decoder_state_new(rapt_error *err)
{
    rapt_decoder_state *s = calloc(1, sizeof *s);
    if (s) {
        arena_init(&s->memory, CHUNK);
        s->self = rapt_kv_cache_new((rapt_kv_sizes){0}, NULL); /* their message would speak of no layers */
        s->cross = rapt_kv_cache_new((rapt_kv_sizes){0}, NULL);
    }
    if (s && s->self && s->cross)
        return s;
    rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for decoding");
    rapt_decoder_state_free(s);
    return NULL;
}

void rapt_decoder_state_free(rapt_decoder_state *s)
{
    if (!s)
        return;
    rapt_kv_cache_free(s->self);
    rapt_kv_cache_free(s->cross);
    arena_free(&s->memory);
    free(s);
}

size_t rapt_decoder_state_past(const rapt_decoder_state *s)
{
    return rapt_kv_cache_past(s->self);
}

/* ---- start -------------------------------------------------------------------------------------------------- */

/* Whether `memory` has rows for each of several sentences. */
static bool decoder_state_fits(rapt_tape *t, const rapt_tensor *memory)
{
    char text[96];
    if (!rapt_tape_error(t)->code && memory->ndim != 3 && !memory->ragged)
        rapt_tape_fail(t, RAPT_ERR_SHAPE, "decoder: the memory %s is neither [batch, time, feature] nor ragged",
                       rapt_shape_text(memory, text, sizeof text));
    return !rapt_tape_error(t)->code;
}

/* Sizes for one row and one position. */
static rapt_kv_sizes decoder_state_sizes(const rapt_decoder *m, rapt_type storage)
{
    const rapt_multi_head_attention *a = m->layers ? &m->blocks[0].self_attention : NULL;
    const size_t features = a ? a->k.weight->value.shape[0] : 0;
    return (rapt_kv_sizes){m->layers, 1, 1, features, .head = a ? features / a->kv_heads : 0, .storage = storage};
}

/* For `sentences` sentences, the longest of `longest` rows. */
static rapt_code decoder_state_allocate(rapt_decoder_state *s, const rapt_decoder *m, size_t sentences, size_t longest, bool lens,
                                        rapt_decoder_sizes sizes, rapt_error *err)
{
    rapt_kv_sizes cross = decoder_state_sizes(m, sizes.storage), self = cross;
    cross.rows = sentences;
    cross.capacity = longest;
    self.capacity = sizes.capacity;
    self.grows = true;
    if (__builtin_mul_overflow(sentences, sizes.beam ? sizes.beam : 1, &self.rows))
        return RAPT_ERR_MEMORY;
    arena_release(&s->memory, (arena_mark){0});
    s->first = arena_array(&s->memory, sentences + 1, sizeof *s->first);
    s->memory_lens = lens ? arena_array(&s->memory, sentences, sizeof *s->memory_lens) : NULL;
    rapt_code code = s->first && (!lens || s->memory_lens) ? RAPT_OK : RAPT_ERR_MEMORY;
    code = code ? code : kv_cache_resize_first(s->self, self, longest + LONGER, err);
    return code ? code : rapt_kv_cache_resize(s->cross, cross, err);
}

/* One row for each of sentences first .. first + count - 1 of the memory, without tokens yet. */
static void decoder_state_begin(rapt_decoder_state *s, const rapt_tensor *memory, const int32_t *memory_lens, size_t first,
                                size_t count)
{
    for (size_t i = 0; s->memory_lens && i < count; i++) { /* a sentence has nothing in the cache after its rows */
        const int32_t rows = (int32_t)tape_rows_of(memory, first + i).count, length = memory_lens ? memory_lens[first + i] : rows;
        s->memory_lens[i] = length < 0 ? 0 : length < rows ? length : rows;
    }
    for (size_t i = 0; i <= count; i++)
        s->first[i] = i;
    s->one_each = true;
    rapt_kv_cache_clear(s->self, count);
}

/* Packs keys and values in fp32 once, because otherwise every decoding step would pack them. */
static void decoder_state_keep(rapt_tape *t, rapt_decoder_state *s, size_t layer, const rapt_tensor *k, const rapt_tensor *v)
{
    rapt_kv *kv = rapt_kv_cache_layer(s->cross, layer);
    kv_cache_append(t->k, kv, k, v, 0);
    if (kv->storage == RAPT_TYPE_FP32)
        kv->panels = attention_panels_pack(t, &s->memory, &kv->k, &kv->v, kv->head, s->memory_lens);
}

/* Sentence i of x as a batch of its own. */
static rapt_tensor decoder_sentence_of(const rapt_tensor *x, size_t i)
{
    const tape_rows r = tape_rows_of(x, i);
    const size_t d = rapt_tensor_features(x);
    return (rapt_tensor){.data = x->data + r.first * d, .ndim = 3, .shape = {1, r.count, d}};
}

/* Projects the memory for all blocks, in one product for all states: one state has all sentences, several have one each. */
static void decoder_states_project(rapt_tape *t, const rapt_decoder *m, rapt_decoder_state *const *states, size_t count,
                                   rapt_tensor *memory)
{
    for (size_t layer = 0; layer < m->layers; layer++) {
        const rapt_tensor *k = rapt_linear_forward(t, &m->blocks[layer].cross_attention.k, memory);
        const rapt_tensor *v = rapt_linear_forward(t, &m->blocks[layer].cross_attention.v, memory);
        if (rapt_tape_error(t)->code)
            return;
        for (size_t i = 0; i < count; i++) {
            const rapt_tensor own_k = decoder_sentence_of(k, i), own_v = decoder_sentence_of(v, i);
            decoder_state_keep(t, states[i], layer, count == 1 ? k : &own_k, count == 1 ? v : &own_v);
        }
    }
    for (size_t i = 0; i < count; i++)
        rapt_kv_cache_advance(states[i]->cross, rapt_kv_cache_sizes(states[i]->cross).capacity);
}

static void decoder_refuse_start(rapt_tape *t, size_t sentences, rapt_decoder_sizes sizes, rapt_code code, const rapt_error *err)
{
    if (code == RAPT_ERR_MEMORY)
        rapt_tape_fail(t, code, "out of memory to decode %zu sentences of %zu tokens", sentences, sizes.capacity);
    else
        rapt_tape_fail(t, code, "decoder: %s", err->message);
}

void rapt_decoder_start(rapt_tape *t, const rapt_decoder *m, rapt_decoder_state *s, rapt_tensor *memory,
                        const int32_t *memory_lens, rapt_decoder_sizes sizes)
{
    rapt_error err = {0};
    rapt_kv_cache_clear(s->cross, 0); /* steps refuse an empty state */
    if (!decoder_state_fits(t, memory))
        return;
    const size_t sentences = tape_examples(memory);
    rapt_code code = decoder_state_allocate(s, m, sentences, tape_longest(memory), memory_lens || memory->ragged, sizes, &err);
    if (code) {
        rapt_kv_cache_clear(s->cross, 0);
        decoder_refuse_start(t, sentences, sizes, code, &err);
        return;
    }
    decoder_state_begin(s, memory, memory_lens, 0, sentences);
    decoder_states_project(t, m, &s, 1, memory);
}

void decoder_start_each(rapt_tape *t, const rapt_decoder *m, rapt_decoder_state *const *states, size_t count, rapt_tensor *memory,
                        const rapt_decoder_sizes *sizes)
{
    rapt_error err = {0};
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < count; i++)
        rapt_kv_cache_clear(states[i]->cross, 0);
    if (!decoder_state_fits(t, memory))
        return;
    for (size_t i = 0; i < count && !code; i++) {
        code = decoder_state_allocate(states[i], m, 1, tape_rows_of(memory, i).count, false, sizes[i], &err);
        if (code)
            decoder_refuse_start(t, 1, sizes[i], code, &err);
        else
            decoder_state_begin(states[i], memory, NULL, i, 1);
    }
    if (!code)
        decoder_states_project(t, m, states, count, memory);
}

/* ---- steps -------------------------------------------------------------------------------------------------- */

rapt_tensor *decoder_state_prepare(rapt_tape *t, const rapt_decoder *m, rapt_decoder_state *s, rapt_tokens tokens)
{
    const size_t end = rapt_kv_cache_past(s->self) + tokens.time;
    rapt_error err = {0};
    if (rapt_kv_cache_past(s->cross) == 0 || rapt_kv_cache_sizes(s->cross).layers != m->layers)
        return rapt_tape_fail(t, RAPT_ERR_VALUE, "decoder: a decoding step of a state that was not started");
    if (tokens.lens) /* all rows of the cache have equally many positions */
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "decoder: the rows of a decoding step are of one length");
    if (!s->one_each && tokens.time != 1)
        return rapt_tape_fail(t, RAPT_ERR_SHAPE, "decoder: rows that share a sentence are decoded token by token, not %zu",
                              tokens.time);
    if (end <= rapt_kv_cache_sizes(s->self).capacity && rapt_kv_cache_reserve(s->self, end, &err))
        return rapt_tape_fail(t, err.code, "decoder: %s", err.message);
    return NULL;
}

rapt_decoder_memory decoder_state_memory(const rapt_decoder_state *s, size_t layer)
{
    return (rapt_decoder_memory){.kv = rapt_kv_cache_layer(s->cross, layer), .lens = s->memory_lens,
                                 .shared = s->one_each ? NULL : &s->shared};
}

/* Sentences keep their order, so one pass over the new rows finds the end of each. */
static void decoder_state_share_out(rapt_decoder_state *s, const int32_t *parents, size_t rows)
{
    size_t row = 0, longest = 0, sentences = rapt_kv_cache_rows(s->cross);
    for (size_t i = 0; i < sentences; i++) {
        size_t end = s->first[i + 1], from = row;
        while (row < rows && (size_t)parents[row] < end)
            row++;
        s->first[i] = from;
        longest = row - from > longest ? row - from : longest;
    }
    s->first[sentences] = row;
    s->one_each = false;
    s->shared = (rapt_ragged){sentences, longest, s->first};
}

void rapt_decoder_state_select(rapt_decoder_state *s, const int32_t *parents, size_t rows)
{
    decoder_state_share_out(s, parents, rows);
    rapt_kv_cache_select(s->self, parents, rows);
}
