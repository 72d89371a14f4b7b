/* tests/decode/search_case.h: a small translation model and sentences for the tests of searches. It checks nothing but that its
 * own steps succeed. */
#ifndef TESTS_DECODE_SEARCH_CASE_H
#define TESTS_DECODE_SEARCH_CASE_H

#include "search/sentence.h"
#include "nn/model.h"

#define SENTENCES 5
#define SOURCE 9

typedef struct setting {
    rapt_transformer *m;
    rapt_tape *t;
    sentence sentences[SENTENCES];
    arena memory; /* of results */
    int32_t source[SENTENCES * SOURCE], lens[SENTENCES];
    size_t limits[SENTENCES];
    search_prefix prefixes[SENTENCES];
    search_phrases phrases[SENTENCES];
    search_result results[SENTENCES];
} setting;

/* `eos` is added to the bias of <eos>. */
static inline setting new_setting(size_t vocab, size_t limit, rapt_real eos)
{
    rapt_error err = {0};
    rapt_transformer_config config = model_config(RAPT_NORM_PLACE_POST, false);
    config.target_vocab = vocab;
    setting s = {.m = rapt_transformer_new(&config, 5, &err), .t = model_tape(NULL, 1), .lens = {9, 1, 4, 6, 2}};
    assert_non_null(s.m);
    s.m->decoder.output.bias->value.data[RAPT_EOS] += eos;
    arena_init(&s.memory, 1 << 16);
    model_ids(s.source, SENTENCES * SOURCE, 3);
    for (size_t i = 0; i < SENTENCES; i++) {
        s.limits[i] = limit + i % 2;
        assert_int_equal(sentence_init(&s.sentences[i], 1, &err), RAPT_OK);
    }
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
    for (size_t i = 0; i < SENTENCES; i++)
        sentence_free(&s->sentences[i]);
    arena_free(&s->memory);
}

/* A copy that lasts as long as the arena. */
static inline search_result keep_result(arena *memory, search_result found)
{
    search_result copy = {arena_array(memory, found.count, sizeof *copy.best), found.count};
    for (size_t i = 0; i < found.count; i++) {
        copy.best[i] = found.best[i];
        copy.best[i].tokens = arena_array(memory, found.best[i].length, sizeof(int32_t));
        memcpy(copy.best[i].tokens, found.best[i].tokens, found.best[i].length * sizeof(int32_t));
        if (found.best[i].log_probs) {
            copy.best[i].log_probs = arena_array(memory, found.best[i].length, sizeof(double));
            memcpy(copy.best[i].log_probs, found.best[i].log_probs, found.best[i].length * sizeof(double));
        }
    }
    return copy;
}

/* Sentences first .. first + count - 1 together; `beam` 0: 1. */
static inline void search_together(setting *s, size_t first, size_t count, size_t beam, search_options o)
{
    rapt_error err = {0};
    sentence *on[SENTENCES] = {NULL};
    sentence_source from[SENTENCES] = {{NULL}};
    const sentence_net net = {.net = s->m};
    const sentence_model model = {s->t, &net, 1, RAPT_TYPE_FP32, NULL};
    o.beam = beam ? beam : 1;
    o.special = RAPT_SPECIAL_IDS;
    o.n_best = o.n_best ? o.n_best : 1;
    for (size_t i = 0; i < count; i++) {
        const size_t k = first + i;
        on[i] = &s->sentences[k];
        from[i] = (sentence_source){s->source + k * SOURCE, (size_t)s->lens[k], s->prefixes[k], s->limits[k], k, &o,
                                    s->phrases[k]};
    }
    rapt_code code = sentence_begin(&model, on, from, count, &err);
    for (size_t left = count; left > 0 && !code;) {
        code = sentence_step(&model, on, left, &err);
        size_t kept = 0;
        for (size_t i = 0; i < left && !code; i++) {
            if ((code = on[i]->code))
                err = on[i]->error;
            if (!sentence_is_over(on[i]))
                on[kept++] = on[i];
        }
        left = kept;
    }
    if (code)
        fail_msg("%s", err.message);
    for (size_t i = first; i < first + count; i++)
        s->results[i] = keep_result(&s->memory, search_found(s->sentences[i].search));
}

static inline void assert_same_result(const search_result *a, const search_result *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t j = 0; j < a->count; j++) {
        assert_int_equal(a->best[j].length, b->best[j].length);
        assert_memory_equal(a->best[j].tokens, b->best[j].tokens, a->best[j].length * sizeof(int32_t));
        assert_memory_equal(&a->best[j].score, &b->best[j].score, sizeof(double));
        assert_memory_equal(&a->best[j].log_prob, &b->best[j].log_prob, sizeof(double));
    }
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
