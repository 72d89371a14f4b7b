/* tests/decode/search_case.h: a small translation model and sentences for the tests of searches. It checks nothing but that its
 * own steps succeed. */
#ifndef TESTS_DECODE_SEARCH_CASE_H
#define TESTS_DECODE_SEARCH_CASE_H

#include "decode/search.h"
#include "nn/model.h"

#define SENTENCES 5
#define SOURCE 9

typedef struct setting {
    rapt_transformer *m;
    rapt_tape *t;
    rapt_decoder_state *state; /* of all searches, one after the other */
    arena memory;
    int32_t source[SENTENCES * SOURCE], lens[SENTENCES];
    size_t limits[SENTENCES];
    search_prefix prefixes[SENTENCES];
    search_result results[SENTENCES];
} setting;

/* `eos` is added to the bias of <eos>. */
static inline setting new_setting(size_t vocab, size_t limit, rapt_real eos)
{
    rapt_error err = {0};
    rapt_transformer_config config = model_config(RAPT_NORM_PLACE_POST, false);
    config.target_vocab = vocab;
    setting s = {.m = rapt_transformer_new(&config, 5, &err), .t = model_tape(NULL, 1), .lens = {9, 1, 4, 6, 2}};
    s.state = rapt_decoder_state_new(&err);
    assert_non_null(s.m);
    assert_non_null(s.state);
    s.m->decoder.output.bias->value.data[RAPT_EOS] += eos;
    arena_init(&s.memory, 1 << 16);
    model_ids(s.source, SENTENCES * SOURCE, 3);
    for (size_t i = 0; i < SENTENCES; i++)
        s.limits[i] = limit + i % 2;
    return s;
}

static inline void set_prefix(setting *s, const int32_t *ids, size_t count)
{
    for (size_t i = 0; i < SENTENCES; i++)
        s->prefixes[i] = (search_prefix){ids, count};
}

static inline void free_setting(setting *s)
{
    rapt_transformer_free(s->m);
    rapt_tape_free(s->t);
    rapt_decoder_state_free(s->state);
    arena_free(&s->memory);
}

/* Sentences first .. first + count - 1 together; `beam` 0: greedy, and with o.policy its search. */
static inline void search(setting *s, size_t first, size_t count, size_t beam, search_options o)
{
    rapt_error err = {0};
    search_batch b = {{s->source + first * SOURCE, count, SOURCE}, s->lens + first, s->limits + first, s->prefixes + first};
    o.beam = beam;
    o.special = RAPT_SPECIAL_IDS;
    o.n_best = o.n_best ? o.n_best : 1;
    const searcher on = {s->t, s->m, s->state};
    search_run *run;
    rapt_code code = (o.policy ? search_policy : beam ? search_beam : search_greedy)(&on, &b, &o, &s->memory,
                                                                                     s->results + first, &run, &err);
    code = code ? code : search_finish(run, &on, &err);
    if (code)
        fail_msg("%s", err.message);
}

/* log p of tokens[length] for sentence i, by a pass over the whole row. */
static inline double log_p_of(setting *s, size_t i, const int32_t *tokens, size_t length)
{
    int32_t row[64] = {RAPT_BOS};
    double total = 0;
    memcpy(row + 1, tokens, length * sizeof *tokens);
    rapt_tape_begin(s->t, (rapt_pass){0});
    rapt_tensor *y = rapt_transformer_forward(s->t, s->m, (rapt_tokens){s->source + i * SOURCE, 1, SOURCE}, &s->lens[i],
                                              (rapt_tokens){row, 1, length});
    size_t classes = y->shape[2];
    for (size_t p = 0; p < length; p++) {
        const rapt_real *x = y->data + p * classes;
        double sum = 0;
        for (size_t j = 0; j < classes; j++)
            sum += exp((double)x[j]);
        total += (double)x[tokens[p]] - log(sum);
    }
    return total;
}

#endif
