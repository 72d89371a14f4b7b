/* examples/17_grouped_queries.c: chapter 17 of docs/book: heads that share keys and values: by hand, what it costs in loss, what
 * it saves in the KV cache, and, with --times, in decoding.  Usage: 17_grouped_queries [--table|--times] */
#include "input.h"
#include "learn.h"
#include "show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HEADS = 4, HEAD_FEATURES = SALES_FEATURES / HEADS, STEPS = 300, PROMPT = 4096, DECODED = 64 };

/* ---- by hand -------------------------------------------------------------------------------------------------------- */

static void init_attention(rapt_multi_head_attention *m, rapt_params *set, const char *prefix, size_t kv_heads)
{
    rapt_attention_options options = {.hidden = SALES_FEATURES, .heads = HEADS, .kv_heads = kv_heads,
                                      .init = RAPT_WEIGHT_INIT_PYTORCH};
    rapt_multi_head_attention_init(m, set, prefix, &options);
}

/* Copies each key or value head of `from` to those heads of `to` that it stands for. */
static void copy_heads(const rapt_param *from, rapt_param *to, size_t kv_heads)
{
    size_t size = HEAD_FEATURES * SALES_FEATURES, share = HEADS / kv_heads;
    for (size_t h = 0; h < HEADS; h++)
        memcpy(to->value.data + h * size, from->value.data + h / share * size, size * sizeof *to->value.data);
}

/* Two models of attention: with two key-value heads, and with four that are pairwise equal. */
static void make_pair(rapt_params *set, rapt_multi_head_attention *grouped, rapt_multi_head_attention *full)
{
    init_attention(grouped, set, "grouped.", 2);
    init_attention(full, set, "full.", 0);
    if (rapt_params_error(set)->code)
        return;
    memcpy(full->q.weight->value.data, grouped->q.weight->value.data, SALES_FEATURES * SALES_FEATURES * sizeof(rapt_real));
    memcpy(full->o.weight->value.data, grouped->o.weight->value.data, SALES_FEATURES * SALES_FEATURES * sizeof(rapt_real));
    copy_heads(grouped->k.weight, full->k.weight, 2);
    copy_heads(grouped->v.weight, full->v.weight, 2);
}

/* Numbers that a cache of GPT-2's size holds for each token. */
static size_t cache_numbers(size_t kv_heads)
{
    rapt_lm_config c;
    rapt_lm_preset("gpt2", &c, NULL);
    c.block.kv_heads = kv_heads;
    rapt_error err = {0};
    rapt_lm *m = rapt_lm_new(&c, RAPT_SEED_SHAPES, &err);
    if (!m)
        return fprintf(stderr, "%s\n", err.message), 0;
    rapt_kv_sizes s = rapt_lm_kv_sizes(m, 1);
    rapt_lm_free(m);
    return 2 * s.layers * s.features;
}

static void grouped_queries(rapt_tape *t, rapt_params *set)
{
    rapt_multi_head_attention grouped, full;
    rapt_mask causal = {.causal = true};
    make_pair(set, &grouped, &full);
    rapt_tensor *x = input_sales(t, set);
    const rapt_tensor *a = rapt_multi_head_attention_forward(t, &grouped, x, x, x, &causal);
    const rapt_tensor *b = rapt_multi_head_attention_forward(t, &full, x, x, x, &causal);
    printf("-- 4 heads, 2 key-value heads --\n");
    if (!show_ready(t, set))
        return;
    show_shape("W_q", &grouped.q.weight->value);
    show_shape("W_k", &grouped.k.weight->value);
    show_shape("W_v", &grouped.v.weight->value);
    show_shape("output", a);
    show_check("the same as four key-value heads that are equal in pairs",
               show_difference(rapt_tensor_size(a), a->data, b->data) < 1e-5);
    static const size_t kinds[4] = {12, 4, 2, 1};
    bool right = true;
    printf("GPT-2, 12 heads of 64 features, 12 blocks: cache for each token, for 1024 tokens\n");
    for (int i = 0; i < 4; i++) {
        size_t numbers = cache_numbers(kinds[i]);
        printf("%2zu key-value heads: %6zu numbers, %5.1f MB\n", kinds[i], numbers, (double)numbers * 4 * 1024 / 1e6);
        right = right && numbers == 2 * 12 * 64 * kinds[i];
    }
    show_check("2 x 12 blocks x 64 features x key-value heads", right);
}

/* The keys of the first window, with heads side by side: the keys of two key-value heads, twice each. */
static void grouped_table(rapt_tape *t, rapt_params *set)
{
    static char text[SALES_FEATURES][16];
    const char *names[SALES_FEATURES];
    rapt_multi_head_attention grouped, full;
    make_pair(set, &grouped, &full);
    const rapt_tensor *keys = rapt_linear_forward(t, &full.k, input_sales(t, set));
    for (size_t i = 0; i < SALES_FEATURES; i++) {
        snprintf(text[i], sizeof text[i], "%zu.%zu", i / HEAD_FEATURES, i % HEAD_FEATURES);
        names[i] = text[i];
    }
    if (show_ready(t, set))
        show_table(SALES_TIME, SALES_FEATURES, keys->data, input_sales_words, names);
}

/* ---- what it costs -------------------------------------------------------------------------------------------------- */

static void learned(rapt_tape *t, const learn_text *x)
{
    static const size_t kinds[3] = {4, 2, 1};
    double loss[3] = {0};
    printf("\n-- %d steps on sentences: loss on others --\n", STEPS);
    for (int k = 0; k < 3; k++) {
        rapt_lm_config c = learn_config(x);
        c.block.kv_heads = kinds[k];
        rapt_lm *m = learn_train(t, x, &c, STEPS, NULL);
        if (!m)
            return;
        rapt_kv_sizes s = rapt_lm_kv_sizes(m, 1);
        loss[k] = learn_loss(t, x, m, 0, LEARN_TRAINED);
        printf("%zu key-value heads: %zu parameters, cache of %3zu numbers a token, loss %.4f\n", kinds[k],
               rapt_params_size(m->params), 2 * s.layers * s.features, loss[k]);
        rapt_lm_free(m);
    }
    show_check("a quarter of the cache costs less than 0.1 nats", loss[2] < loss[0] + 0.1);
}

static void chapter(rapt_tape *t, rapt_params *set)
{
    learn_text x;
    grouped_queries(t, set);
    if (learn_open(&x)) {
        learned(t, &x);
        learn_close(&x);
    }
}

/* ---- time ------------------------------------------------------------------------------------------------------------ */

/* Milliseconds of a decoding step after PROMPT tokens, and the bytes of the cache then. The model has 12 heads of 64 features
 * and two blocks, and one thread. */
static double decode(rapt_tape *t, size_t kv_heads, double *bytes)
{
    static const int32_t ids[PROMPT];
    rapt_lm_config c;
    rapt_lm_preset("gpt2", &c, NULL);
    c.layers = 2;
    c.vocab = 1000;
    c.block.ffn = c.block.d_model;
    c.context = PROMPT + DECODED + 1;
    c.positions = RAPT_POSITIONS_ROTARY;
    c.block.kv_heads = kv_heads;
    rapt_lm *m = rapt_lm_new(&c, 1, NULL);
    rapt_kv_sizes sizes = m ? rapt_lm_kv_sizes(m, 1) : (rapt_kv_sizes){0};
    rapt_kv_cache *cache = m ? rapt_kv_cache_new(sizes, NULL) : NULL;
    double begin = 0;
    for (size_t i = 0; cache && i <= DECODED; i++) {
        if (i == 1)
            begin = learn_clock();
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_lm_step(t, m, cache, (rapt_tokens){.ids = ids, .batch = 1, .time = i ? 1 : PROMPT}, true);
    }
    double time = 1e3 * (learn_clock() - begin) / DECODED;
    *bytes = 2.0 * 4 * (double)(sizes.layers * sizes.features) * PROMPT;
    bool ok = cache && show_ready(t, m->params);
    rapt_kv_cache_free(cache);
    rapt_lm_free(m);
    return ok ? time : NAN;
}

static int times(void)
{
    static const size_t kinds[4] = {12, 4, 2, 1};
    rapt_tape *t = rapt_tape_new(&(rapt_compute){.threads = 1}, NULL);
    if (t)
        printf("key-value heads  cache, MB  a token, ms\n");
    for (int k = 0; t && k < 4; k++) {
        double bytes, ms = decode(t, kinds[k], &bytes);
        printf("%15zu  %9.1f  %11.2f\n", kinds[k], bytes / 1e6, ms);
        if (isnan(ms))
            show_check("a step can be timed", false);
    }
    return show_end(t, NULL);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--times") == 0)
        return times();
    return show_run(argc, argv, chapter, grouped_table);
}
