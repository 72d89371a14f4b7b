/* examples/15_prediction.c: chapter 15 of docs/book: from probabilities to a text: argmax, temperature, top-k, top-p, min-p and
 * beam search on one prompt, and the KV cache, timed with --times.  Usage: 15_prediction [--table|--times] */
#include "show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SENTENCES = 20, LENGTH = 10, MAX_VOCABULARY = 512, STEPS = 150, DRAWS = 1000, BEAM = 2, WORDS = 10 };

/* What the model learns, how often each sentence comes: of 20 people, 10 drink tea. */
static const struct sentence {
    int times;
    const char *text;
} sentences[] = {{3, "we drink tea with milk.\n"},  {2, "we drink tea with sugar.\n"},  {2, "we drink tea with honey.\n"},
                 {2, "we drink tea with lemon.\n"}, {1, "we drink tea with ginger.\n"}, {6, "we drink water from the spring.\n"},
                 {3, "we drink coffee at work.\n"}, {1, "we drink juice at home.\n"}};

/* The prompts, and the words that follow them with their shares. */
static const char *const prompts[3] = {"we drink", "we drink tea with", "we drink water from the"};
static const struct word {
    const char *text;
    int prompt;
    double share;
} words[WORDS] = {{" tea", 0, 0.5},   {" water", 0, 0.3}, {" coffee", 0, 0.15}, {" juice", 0, 0.05}, {" milk", 1, 0.3},
                  {" sugar", 1, 0.2}, {" honey", 1, 0.2}, {" lemon", 1, 0.2},   {" ginger", 1, 0.1}, {" spring", 2, 1}};

/* The ways to choose, as members of rapt_sample_options. */
typedef struct way {
    const char *name;
    double temperature;
    size_t top_k; /* 0: all */
    double top_p, min_p;
} way;
static const way ways[] = {{"the model", 1, 0, 1, 0},       {"argmax", 0, 0, 1, 0},        {"temperature 0.5", 0.5, 0, 1, 0},
                           {"temperature 2", 2, 0, 1, 0},   {"top-k 2", 1, 2, 1, 0},       {"top-p 0.85", 1, 0, 0.85, 0},
                           {"min-p 0.2", 1, 0, 1, 0.2}};
enum { WAYS = sizeof ways / sizeof ways[0] };

/* ---- a model of the sentences ----------------------------------------------------------------------------------- */

static rapt_tokenizer *make_tokenizer(rapt_error *err)
{
    char text[2048] = "";
    for (size_t i = 0; i < sizeof sentences / sizeof sentences[0]; i++)
        strncat(text, sentences[i].text, sizeof text - strlen(text) - 1);
    rapt_bpe_options options = rapt_bpe_options_default();
    options.vocab_size = MAX_VOCABULARY;
    options.min_freq = 1; /* merged until each word is a token */
    return rapt_tokenizer_train_bpe(text, strlen(text), &options, err);
}

/* Ids of a text, at most LENGTH of them; their number. */
static size_t encode(const rapt_tokenizer *tokenizer, const char *text, int32_t *ids)
{
    int32_t *all = NULL;
    size_t count = 0;
    if (rapt_tokenizer_encode_bytes(tokenizer, text, strlen(text), NULL, &all, &count, NULL) != RAPT_OK)
        return 0;
    count = count < LENGTH ? count : LENGTH;
    memcpy(ids, all, count * sizeof *ids);
    free(all);
    return count;
}

/* All sentences of the text, as often as they come, in every step. */
static bool train(rapt_tape *t, const rapt_language_model *model, double *loss)
{
    rapt_params *params = model->net->params;
    int32_t ids[SENTENCES * (LENGTH - 1)] = {0}, labels[SENTENCES * (LENGTH - 1)] = {0}, lens[SENTENCES], row[LENGTH];
    for (size_t i = 0, at = 0; i < sizeof sentences / sizeof sentences[0]; i++)
        for (int k = 0; k < sentences[i].times; k++, at++) {
            lens[at] = (int32_t)encode(model->tokenizer, sentences[i].text, row) - 1;
            for (int32_t j = 0; j < lens[at]; j++) {
                ids[at * (LENGTH - 1) + (size_t)j] = row[j];
                labels[at * (LENGTH - 1) + (size_t)j] = row[j + 1];
            }
        }
    rapt_tokens inputs = {.ids = ids, .batch = SENTENCES, .time = LENGTH - 1}, targets = inputs;
    targets.ids = labels;
    rapt_adam *adam = rapt_adam_new(params, NULL, NULL);
    for (uint64_t step = 1; adam && step <= STEPS; step++) {
        rapt_tape_begin(t, (rapt_pass){.record = true, .training = true, .step = step});
        rapt_loss_options options = {.valid_lens = lens}; /* what fills the rows up does not count */
        rapt_tensor *at = rapt_lm_loss(t, model->net, inputs, targets, &options, NULL);
        rapt_params_zero_grad(params);
        if (rapt_backward(t, at, NULL) != RAPT_OK)
            break;
        *loss = (double)at->data[0];
        rapt_adam_step(adam, t, 0.01 * fmin(1, (double)(STEPS - step) / 50), 1, NULL);
    }
    rapt_adam_free(adam);
    return adam && show_ready(t, params);
}

static rapt_model *make_model(rapt_tape *t, double *loss, rapt_error *err)
{
    rapt_language_model members = {.tokenizer = make_tokenizer(err)};
    rapt_lm_config config;
    rapt_lm_preset("seed", &config, NULL);
    config.vocab = MAX_VOCABULARY;
    config.block.d_model = 32;
    config.block.ffn = 64;
    config.context = LENGTH;
    members.net = members.tokenizer ? rapt_lm_new(&config, 1, err) : NULL;
    rapt_model *model = members.net && train(t, &members, loss) ? rapt_model_new_language(&members, err) : NULL;
    if (model)
        return model;
    rapt_lm_free(members.net);
    rapt_tokenizer_free(members.tokenizer);
    return NULL;
}

/* ---- from logits to the distribution that is sampled -------------------------------------------------------------- */

static const rapt_real *sort_logits; /* what qsort compares by */

static int by_logit(const void *a, const void *b)
{
    int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;
    rapt_real x = sort_logits[i], y = sort_logits[j];
    return x > y ? -1 : x < y ? 1 : (i > j) - (i < j);
}

/* The probabilities that tokens are drawn with, by the definitions in rapt/generate.h; how many are not 0. */
static size_t distribution(size_t vocab, const rapt_real *logits, const way *o, double *p)
{
    int32_t order[MAX_VOCABULARY];
    double sum = 0, kept = 0, temperature = o->temperature > 0 ? o->temperature : 1;
    size_t top_k = o->temperature == 0 ? 1 : o->top_k > 0 && o->top_k < vocab ? o->top_k : vocab, count = 0;
    for (size_t i = 0; i < vocab; i++)
        order[i] = (int32_t)i;
    sort_logits = logits;
    qsort(order, vocab, sizeof *order, by_logit);
    for (size_t i = 0; i < vocab; i++) {
        p[order[i]] = exp((double)(logits[order[i]] - logits[order[0]]) / temperature);
        sum += i < top_k ? p[order[i]] : 0;
    }
    for (size_t i = 0; i < top_k; i++) { /* from the most probable one down */
        double here = p[order[i]] / sum;
        if ((o->top_p < 1 && kept >= o->top_p) || here < o->min_p * p[order[0]] / sum)
            break;
        kept += here;
        count++;
    }
    for (size_t i = 0; i < vocab; i++)
        p[order[i]] = i < count ? p[order[i]] / sum / kept : 0;
    return count;
}

/* The distribution of the counted shares over the words of one prompt: what a perfect model would give. */
static void expected(int prompt, const way *o, double *p)
{
    rapt_real logits[WORDS];
    for (size_t i = 0; i < WORDS; i++)
        logits[i] = words[i].prompt == prompt ? (rapt_real)log(words[i].share) : -30;
    distribution(WORDS, logits, o, p);
}

/* How often each word is drawn by the library in DRAWS runs of one token. */
static bool draw(const rapt_model *model, const way *o, const int32_t *prompt, size_t count, double *share)
{
    rapt_generate_options options = rapt_generate_options_default();
    options.max_tokens = 1;
    options.sample.temperature = o->temperature;
    options.sample.top_k = o->top_k;
    options.sample.top_p = o->top_p;
    options.sample.min_p = o->min_p;
    rapt_generator *g = rapt_generator_new(model, &options, NULL);
    bool ok = g && rapt_generator_begin_tokens(g, prompt, count, NULL) == RAPT_OK;
    for (uint64_t i = 0; ok && i < DRAWS; i++) {
        rapt_generated result;
        ok = rapt_generator_run(g, i, &result, NULL) == RAPT_OK && rapt_generator_rewind(g, count, NULL) == RAPT_OK;
        if (ok && result.token_count == 1)
            share[result.tokens[0]] += 1.0 / DRAWS;
        rapt_generated_free(&result);
    }
    rapt_generator_free(g);
    return ok;
}

/* Largest differences: between the distribution by hand and the counts, between the drawn shares and the distribution. */
typedef struct errors {
    double model, drawn;
} errors;

/* The rows of all ways after each prompt: computed, and if `drawn`, the library's draws. */
static errors choose(rapt_tape *t, const rapt_model *model, rapt_real (*rows)[WORDS], rapt_real (*drawn)[WORDS],
                     size_t (*kept)[3])
{
    const rapt_language_model *m = rapt_model_language(model);
    errors worst = {0, 0};
    for (int k = 0; k < 3; k++) {
        int32_t prompt[LENGTH], id[LENGTH];
        size_t vocab = m->net->config.vocab, count = encode(m->tokenizer, prompts[k], prompt);
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_tensor *logits = rapt_lm_forward(t, m->net, (rapt_tokens){.ids = prompt, .batch = 1, .time = count});
        if (!show_ready(t, m->net->params))
            return worst;
        for (size_t w = 0; w < WAYS; w++) {
            double p[MAX_VOCABULARY], share[MAX_VOCABULARY] = {0}, perfect[WORDS];
            kept[w][k] = distribution(vocab, logits->data + (count - 1) * vocab, &ways[w], p);
            expected(k, &ways[w], perfect);
            if (drawn && !draw(model, &ways[w], prompt, count, share))
                worst.drawn = 1;
            for (size_t i = 0; i < WORDS; i++) {
                if (words[i].prompt != k || encode(m->tokenizer, words[i].text, id) != 1)
                    continue;
                rows[w][i] = (rapt_real)p[id[0]];
                if (w != 3) /* a high temperature lifts all the tokens that never come */
                    worst.model = fmax(worst.model, fabs(p[id[0]] - perfect[i]));
                if (drawn) {
                    drawn[w][i] = (rapt_real)share[id[0]];
                    worst.drawn = fmax(worst.drawn, fabs(share[id[0]] - p[id[0]]));
                }
            }
        }
    }
    return worst;
}

/* ---- beam search ------------------------------------------------------------------------------------------------ */

typedef struct hypothesis {
    int32_t ids[LENGTH];
    size_t count;
    double log_prob; /* of what follows the prompt */
} hypothesis;

/* The `beams` best continuations of all of `live`, into `next` with the row that each came from. */
static void extend(const rapt_tensor *logits, const hypothesis *live, size_t rows, size_t beams, hypothesis *next,
                   int32_t *parents)
{
    size_t vocab = logits->shape[2];
    for (size_t i = 0; i < beams; i++)
        next[i].log_prob = -INFINITY;
    for (size_t r = 0; r < rows; r++) {
        const rapt_real *x = logits->data + r * vocab;
        double sum = 0;
        for (size_t i = 0; i < vocab; i++)
            sum += exp((double)x[i]);
        for (size_t i = 0; i < vocab; i++) {
            double log_prob = live[r].log_prob + (double)x[i] - log(sum);
            size_t at = beams;
            while (at > 0 && log_prob > next[at - 1].log_prob)
                at--;
            if (at == beams)
                continue;
            memmove(next + at + 1, next + at, (beams - at - 1) * sizeof *next);
            memmove(parents + at + 1, parents + at, (beams - at - 1) * sizeof *parents);
            next[at] = live[r];
            next[at].ids[next[at].count++] = (int32_t)i;
            next[at].log_prob = log_prob;
            parents[at] = (int32_t)r;
        }
    }
}

/* The most probable sentence that a search with `beams` hypotheses finds; 1 is argmax. The cache's rows follow the beam. */
static hypothesis search(rapt_tape *t, const rapt_language_model *model, const char *prompt, size_t beams, bool tell)
{
    const rapt_lm *m = model->net;
    rapt_kv_cache *cache = rapt_kv_cache_new(rapt_lm_kv_sizes(m, beams), NULL);
    hypothesis live[BEAM] = {{.log_prob = 0}}, next[BEAM], best = {.log_prob = -INFINITY};
    int32_t parents[BEAM] = {0}, end[LENGTH], fed[LENGTH];
    size_t rows = 1, count = encode(model->tokenizer, prompt, fed), time = count;
    live[0].count = count;
    memcpy(live[0].ids, fed, count * sizeof *fed);
    encode(model->tokenizer, "\n", end);
    if (cache)
        rapt_kv_cache_clear(cache, 1);
    while (cache && rows > 0 && live[0].count < LENGTH && live[0].log_prob > best.log_prob) {
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_tensor *logits = rapt_lm_step(t, m, cache, (rapt_tokens){.ids = fed, .batch = rows, .time = time}, true);
        if (!show_ready(t, model->net->params))
            break;
        extend(logits, live, rows, beams, next, parents);
        rows = 0;
        for (size_t i = 0; i < beams; i++) {
            if (tell)
                printf("%s%.4f", i ? ", " : "  ", exp(next[i].log_prob));
            if (next[i].ids[next[i].count - 1] == end[0]) {
                best = next[i].log_prob > best.log_prob ? next[i] : best;
                continue;
            }
            live[rows] = next[i];
            parents[rows] = parents[i];
            fed[rows++] = next[i].ids[next[i].count - 1];
        }
        if (tell)
            printf("\n");
        rapt_kv_cache_select(cache, parents, rows);
        time = 1;
    }
    rapt_kv_cache_free(cache);
    return best;
}

static void beams(rapt_tape *t, const rapt_language_model *model)
{
    double p[2];
    for (size_t width = 1; width <= BEAM; width++) {
        printf("\n-- beam search with %zu hypothes%s: probabilities after each step --\n", width, width > 1 ? "es" : "is");
        hypothesis found = search(t, model, prompts[0], width, true);
        char *text = rapt_tokenizer_decode(model->tokenizer, found.ids, found.count, NULL);
        p[width - 1] = exp(found.log_prob);
        printf("probability %.4f: %s", p[width - 1], text ? text : "");
        free(text);
    }
    show_check("one hypothesis is argmax: 0.5 x 0.3, tea with milk", fabs(p[0] - 0.15) < 0.01);
    show_check("two find water from the spring, which is twice as probable: 0.3", fabs(p[1] - 0.3) < 0.01);
}

/* ---- the KV cache ------------------------------------------------------------------------------------------------ */

/* Logits after each of `time` tokens, one step after the other. Returns whether they equal the logits of the whole row, to the
 * bit. */
static bool steps_equal_whole(rapt_tape *t, const rapt_lm *m, const int32_t *ids, size_t time)
{
    size_t vocab = m->config.vocab;
    rapt_real *all = malloc(time * vocab * sizeof *all);
    rapt_kv_cache *cache = rapt_kv_cache_new(rapt_lm_kv_sizes(m, 1), NULL);
    bool ok = all && cache;
    for (size_t i = 0; ok && i < time; i++) {
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_tensor *logits = rapt_lm_step(t, m, cache, (rapt_tokens){.ids = ids + i, .batch = 1, .time = 1}, false);
        ok = show_ready(t, m->params);
        if (ok)
            memcpy(all + i * vocab, logits->data, vocab * sizeof *all);
    }
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *whole = rapt_lm_forward(t, m, (rapt_tokens){.ids = ids, .batch = 1, .time = time});
    ok = ok && show_ready(t, m->params) && memcmp(whole->data, all, time * vocab * sizeof *all) == 0;
    rapt_kv_cache_free(cache);
    free(all);
    return ok;
}

static void kv_cache(rapt_tape *t, const rapt_language_model *model)
{
    int32_t ids[LENGTH];
    size_t count = encode(model->tokenizer, sentences[5].text, ids), whole = 0;
    rapt_kv_sizes sizes = rapt_lm_kv_sizes(model->net, 1);
    printf("\n-- the KV cache --\n");
    for (size_t i = 1; i <= count; i++)
        whole += i;
    printf("%zu tokens one after the other: %zu positions by whole rows, %zu with a cache\n", count, whole, count);
    printf("the cache: 2 x %zu layer x %zu positions x %zu features = %zu numbers\n", sizes.layers, sizes.capacity,
           sizes.features, 2 * sizes.layers * sizes.capacity * sizes.features);
    show_check("n (n + 1) / 2 positions against n", whole == count * (count + 1) / 2);
    show_check("the logits are the same, to the bit", steps_equal_whole(t, model->net, ids, count));
}

static double seconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds for `count` tokens, each from the logits of the one before (always token 0: the time does not depend on it). */
static double decode(rapt_tape *t, const rapt_lm *m, size_t count, bool cached)
{
    static const int32_t ids[1024];
    rapt_kv_cache *cache = rapt_kv_cache_new(rapt_lm_kv_sizes(m, 1), NULL);
    double begin = seconds();
    for (size_t i = 1; cache && i <= count; i++) {
        rapt_tape_begin(t, (rapt_pass){0});
        if (cached)
            rapt_lm_step(t, m, cache, (rapt_tokens){.ids = ids, .batch = 1, .time = 1}, true);
        else
            rapt_lm_forward(t, m, (rapt_tokens){.ids = ids, .batch = 1, .time = i});
    }
    double time = seconds() - begin;
    rapt_kv_cache_free(cache);
    return show_ready(t, m->params) ? time : NAN;
}

/* A model of six blocks with 384 features, 11 million parameters; one thread, as more help whole rows only. */
static int times(void)
{
    rapt_lm_config config;
    rapt_lm_preset("gpt2", &config, NULL);
    config.layers = config.block.heads = 6;
    config.block.d_model = 384;
    config.block.ffn = 4 * 384;
    config.vocab = 1000;
    rapt_error err = {0};
    rapt_lm *m = rapt_lm_new(&config, 1, &err);
    rapt_tape *t = m ? rapt_tape_new(&(rapt_compute){.threads = 1}, &err) : NULL;
    if (!t)
        return fprintf(stderr, "%s\n", err.message), rapt_lm_free(m), 1;
    decode(t, m, 8, false); /* the first pass allocates */
    printf("tokens  whole rows, s  with a cache, s  ratio\n");
    for (size_t count = 64; count <= 512; count *= 2) {
        double whole = decode(t, m, count, false), cached = decode(t, m, count, true);
        printf("%6zu  %13.3f  %15.3f  %5.1f\n", count, whole, cached, whole / cached);
    }
    rapt_tape_free(t);
    rapt_lm_free(m);
    return 0;
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

/* The cross-entropy of a model that knows the shares: two choices a sentence, the second after tea only, over 6.3 tokens. */
static double least_loss(void)
{
    double nats = 0;
    for (size_t i = 0; i < WORDS; i++)
        nats -= (words[i].prompt == 1 ? 0.5 : 1) * words[i].share * log(words[i].share);
    return nats / 6.3;
}

static void print_kept(size_t (*kept)[3])
{
    printf("\ntokens that can be drawn                \"... drink\"  \"... tea with\"  \"... from the\"\n");
    for (size_t w = 4; w < WAYS; w++)
        printf("%-38s  %10zu  %14zu  %14zu\n", ways[w].name, kept[w][0], kept[w][1], kept[w][2]);
    show_check("top-k: 2, however many fit", kept[4][0] == 2 && kept[4][1] == 2 && kept[4][2] == 2);
    bool top_p = kept[5][0] == 3 && kept[5][1] == 4 && kept[5][2] == 1;
    show_check("top-p: 3, 4 and 1, by 0.5 + 0.3 + 0.15, by 0.3 + 3 x 0.2, by 1", top_p);
    bool min_p = kept[6][0] == 3 && kept[6][1] == 5 && kept[6][2] == 1;
    show_check("min-p: 3, 5 and 1, those of 0.1, of 0.06, of 0.2 and more", min_p);
}

static void chapter(rapt_tape *t, const rapt_model *model, double loss)
{
    static const char *const columns[5] = {"tea", "water", "coffee", "juice", "others"};
    const char *names[WAYS];
    rapt_real rows[WAYS][WORDS] = {{0}}, drawn[WAYS][WORDS] = {{0}}, table[2][WAYS][5];
    size_t kept[WAYS][3] = {{0}};
    printf("20 sentences, learned in %d steps: loss %.4f, the least possible %.4f\n", STEPS, loss, least_loss());
    show_check("it is reached within 0.005", loss > least_loss() && loss < least_loss() + 0.005);
    errors worst = choose(t, model, rows, drawn, kept);
    for (size_t i = 0; i < WAYS; i++) {
        names[i] = ways[i].name;
        for (size_t j = 0; j < 5; j++) {
            table[0][i][j] = j < 4 ? rows[i][j] : 1 - rows[i][0] - rows[i][1] - rows[i][2] - rows[i][3];
            table[1][i][j] = j < 4 ? drawn[i][j] : 1 - drawn[i][0] - drawn[i][1] - drawn[i][2] - drawn[i][3];
            table[0][i][4] = table[0][i][4] < 5e-5f ? 0 : table[0][i][4]; /* not "-0.0000" */
            table[1][i][4] = table[1][i][4] < 5e-5f ? 0 : table[1][i][4];
        }
    }
    printf("\n-- after \"we drink\": probabilities --\n");
    show_frame(WAYS, 5, table[0][0], names, columns);
    show_check("each way gives what it gives for 0.5 0.3 0.15 0.05, within 0.01", worst.model < 0.01);
    bool powers = fabs(table[0][2][0] / table[0][2][1] - pow(0.5 / 0.3, 2)) < 0.01 &&
                  fabs(table[0][3][0] / table[0][3][1] - sqrt(0.5 / 0.3)) < 0.01;
    show_check("tea to water: (5 / 3)^2 at temperature 0.5, its root at 2", powers);
    printf("\n-- the same, drawn %d times by rapt_generator_run --\n", DRAWS);
    show_frame(WAYS, 5, table[1][0], names, columns);
    bool as_computed = worst.drawn < 4 * sqrt(0.25 / DRAWS);
    show_check("it draws what was computed, within four standard deviations of 1000 draws", as_computed);
    print_kept(kept);
    beams(t, rapt_model_language(model));
    kv_cache(t, rapt_model_language(model));
}

static void picture(rapt_tape *t, const rapt_model *model)
{
    const char *names[WAYS], *columns[WORDS];
    rapt_real rows[WAYS][WORDS] = {{0}};
    size_t kept[WAYS][3];
    choose(t, model, rows, NULL, kept);
    for (size_t i = 0; i < WAYS; i++)
        names[i] = ways[i].name;
    for (size_t i = 0; i < WORDS; i++)
        columns[i] = words[i].text + 1;
    show_table(WAYS, WORDS, rows[0], names, columns);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--times") == 0)
        return times();
    if (argc > 2 || (argc == 2 && strcmp(argv[1], "--table") != 0))
        return fprintf(stderr, "usage: %s [--table|--times]\n", argv[0]), 2;
    rapt_error err = {0};
    double loss = NAN;
    rapt_tape *t = rapt_tape_new(NULL, &err);
    rapt_model *model = t ? make_model(t, &loss, &err) : NULL;
    if (!model) {
        rapt_tape_free(t);
        return fprintf(stderr, "%s\n", err.message), 1;
    }
    if (argc == 2)
        picture(t, model);
    else
        chapter(t, model, loss);
    rapt_model_free(model);
    return show_end(t, NULL);
}
