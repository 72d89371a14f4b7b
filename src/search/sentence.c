/* search/sentence.c: the passes of translations: encoding sentences, and decoding steps. search.c chooses the tokens. */
#include "search/sentence.h"

#include "base/buffer.h"
#include "nn/decoder_parts.h"
#include "nn/decoder_state.h"
#include "nn/ragged_tokens.h"
#include "tape/tape_core.h"

#include <string.h>

#define CHUNK ((size_t)2 << 10)

rapt_code sentence_init(sentence *s, size_t models, rapt_error *err)
{
    *s = (sentence){.states = calloc(models, sizeof *s->states)};
    arena_init(&s->memory, CHUNK);
    if (!s->states)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a sentence");
    for (; s->models < models; s->models++)
        if (!(s->states[s->models] = rapt_decoder_state_new(err)))
            return RAPT_ERR_MEMORY;
    return RAPT_OK;
}

void sentence_free(sentence *s)
{
    for (size_t i = 0; i < s->models; i++)
        rapt_decoder_state_free(s->states[i]);
    free(s->states);
    arena_free(&s->memory);
}

/* Lets the tape use the packed weights of network i. One network has the tape's own. */
static void sentence_use(const sentence_model *on, size_t i)
{
    if (on->count > 1)
        tape_use_packed(on->t, on->nets[i].packed);
}

/* ---- the beginning ------------------------------------------------------------------------------------------------ */

/* The start token and the prefix; with a policy, also the token that it would force before the prefix. */
static bool sentence_prompt(sentence *s, const sentence_source *from, search_text *text)
{
    const search_options *o = from->options;
    const search_prefix prefix = from->prefix;
    int32_t *prompt = arena_array(&s->memory, prefix.count + 2, sizeof *prompt);
    size_t count = 0;
    if (!prompt)
        return false;
    prompt[count++] = o->special.bos;
    if (prefix.count > 0 && o->policy && o->policy->forced_bos.count > 0)
        prompt[count++] = o->policy->forced_bos.ids[0];
    if (prefix.count > 0)
        memcpy(prompt + count, prefix.ids, prefix.count * sizeof *prompt);
    text->prompt = prompt;
    text->count = count + prefix.count;
    return true;
}

static rapt_code sentence_search(const sentence_model *on, sentence *s, const sentence_source *from, rapt_error *err)
{
    search_text text = {.known = 1, .max_length = 1 + from->limit, .source = from->ids, .source_count = from->count,
                        .eos_count = 1, .row = from->row, .phrases = from->phrases};
    s->code = RAPT_OK;
    s->error = (rapt_error){0};
    s->search = NULL;
    arena_release(&s->memory, (arena_mark){0});
    int32_t *eos = arena_array(&s->memory, 1, sizeof *eos);
    if (!eos || !sentence_prompt(s, from, &text))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a sentence");
    *eos = from->options->special.eos;
    text.eos = eos;
    s->search = search_new(from->options, &text, on->t->k, on->nets[0].net->config.target_vocab, &s->memory, err);
    return s->search ? RAPT_OK : RAPT_ERR_MEMORY;
}

/* By network `of`. */
static rapt_code sentence_encode(const sentence_model *on, size_t of, sentence *const *s, const sentence_source *sources,
                                 size_t count, rapt_error *err)
{
    rapt_tape *t = on->t;
    const rapt_transformer *net = on->nets[of].net;
    sentence_use(on, of);
    rapt_tape_begin(t, (rapt_pass){0});
    token_row *rows = tape_alloc(t, count, sizeof *rows);
    rapt_decoder_state **states = tape_alloc(t, count, sizeof *states);
    rapt_decoder_sizes *sizes = tape_alloc(t, count, sizeof *sizes);
    for (size_t i = 0; rows && states && sizes && i < count; i++) {
        rows[i] = (token_row){sources[i].ids, sources[i].count};
        states[i] = s[i]->states[of];
        sizes[i] = (rapt_decoder_sizes){search_beam(sources[i].options, &sources[i].phrases), sources[i].limit, on->kv_cache};
    }
    rapt_tokens tokens = {0};
    if (!tape_failed(t))
        tokens = ragged_tokens_pack(t, rows, count, sources[0].options->special.pad);
    if (!tape_failed(t))
        decoder_start_each(t, &net->decoder, states, count, rapt_encoder_forward(t, &net->encoder, tokens, NULL), sizes);
    return rapt_tape_status(t, err);
}

rapt_code sentence_begin(const sentence_model *on, sentence *const *s, const sentence_source *sources, size_t count,
                          rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t i = 0; i < count && !code; i++)
        code = sentence_search(on, s[i], &sources[i], err);
    for (size_t of = on->count; of-- > 0 && !code;)
        code = sentence_encode(on, of, s, sources, count, err);
    for (size_t i = 0; i < count && code; i++)
        s[i]->search = NULL;
    return code;
}

/* ---- steps -------------------------------------------------------------------------------------------------------- */

/* Lets each search choose tokens from its rows of each network's logits. Moves the pointers. */
static void sentence_extend(const sentence_model *on, sentence *const *s, size_t count, rapt_real **logits)
{
    const size_t classes = on->nets[0].net->config.target_vocab;
    for (size_t i = 0; i < count; i++) {
        search *of = s[i]->search;
        const size_t rows = search_rows(of);
        s[i]->code = search_extend(of, logits, on->count, &s[i]->error);
        for (size_t m = 0; m < on->count && !s[i]->code && search_rows(of) > 0 && search_parents(of); m++)
            rapt_decoder_state_select(s[i]->states[m], search_parents(of), search_rows(of));
        for (size_t m = 0; m < on->count; m++)
            logits[m] += rows * classes;
    }
}

/* The logits of network `of` for all rows, which last until the next pass. NULL with `err` set. */
static rapt_real *sentence_logits(const sentence_model *on, size_t of, sentence *const *s, size_t count, rapt_error *err)
{
    sentence_use(on, of);
    rapt_tape_begin(on->t, (rapt_pass){0});
    decoder_part *parts = tape_alloc(on->t, count, sizeof *parts);
    for (size_t i = 0; parts && i < count; i++)
        parts[i] = (decoder_part){s[i]->states[of], search_tokens(s[i]->search), search_rows(s[i]->search)};
    const rapt_tensor *logits = parts ? decoder_step_parts(on->t, &on->nets[of].net->decoder, parts, count) : NULL;
    return rapt_tape_status(on->t, err) ? NULL : logits->data;
}

/* The first network comes last, so that the tape has its packed weights then. */
rapt_code sentence_step(const sentence_model *on, sentence *const *s, size_t count, rapt_error *err)
{
    rapt_real *logits[SENTENCE_MODELS];
    size_t elements = 0;
    for (size_t i = 0; i < count; i++)
        elements += search_rows(s[i]->search) * on->nets[0].net->config.target_vocab;
    if (on->count > 1 && !ARRAY_RESERVE(&on->scratch->logits, &on->scratch->capacity, (on->count - 1) * elements))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the logits of %zu models", on->count);
    for (size_t m = on->count; m-- > 0;) {
        rapt_real *own = sentence_logits(on, m, s, count, err);
        if (!own)
            return rapt_tape_status(on->t, NULL);
        logits[m] = m ? memcpy(on->scratch->logits + (m - 1) * elements, own, elements * sizeof *own) : own;
    }
    sentence_extend(on, s, count, logits);
    return RAPT_OK;
}

rapt_code sentence_run(const sentence_model *on, sentence *s, const sentence_source *source, rapt_error *err)
{
    rapt_code code = sentence_begin(on, &s, source, 1, err);
    while (!code && !sentence_is_over(s)) {
        code = sentence_step(on, &s, 1, err);
        if (!code && s->code)
            code = rapt_fail(err, s->code, "%s", s->error.message);
    }
    return code;
}
