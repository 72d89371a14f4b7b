/* tools/compare_export.c: what a model computes, as lines of JSON, for tools/compare_export.py and tools/compare_shapes.py.
 *
 *   compare_export lm MODEL N [LAST]   for each line of ids on stdin: logits of every position or of the last ones, and N ids of
 *                                      greedy search
 *   compare_export mt MODEL BEAM A     for each line of text on stdin: ids of source and translation with this beam and length
 *                                      penalty, its score, and logits of every position of its beginning and the translation
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rapt.h"

enum { LINE = 1 << 17 };

static void fail(const char *message)
{
    fprintf(stderr, "compare_export: %s\n", message);
    exit(1);
}

static void check(const rapt_error *err)
{
    if (err->code)
        fail(err->message);
}

static void put_ids(const char *name, const int32_t *ids, size_t count)
{
    printf("\"%s\": [", name);
    for (size_t i = 0; i < count; i++)
        printf("%s%d", i ? ", " : "", (int)ids[i]);
    printf("], ");
}

static void put_logits(const rapt_tape *t, const rapt_tensor *y)
{
    check(rapt_tape_error(t));
    printf("\"logits\": [");
    for (size_t i = 0; i < rapt_tensor_size(y); i++)
        printf("%s%.9g", i ? ", " : "", (double)y->data[i]);
    printf("]}\n");
}

static size_t read_ids(char *line, int32_t *ids)
{
    size_t count = 0;
    for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n"))
        ids[count++] = (int32_t)atoi(word);
    return count;
}

/* Appends n ids to a text, which has room. */
static void search(rapt_tape *t, const rapt_lm *net, int32_t *text, size_t count, size_t n)
{
    rapt_error err = {0};
    rapt_kv_cache *cache = rapt_kv_cache_new(rapt_lm_kv_sizes(net, 1), &err);
    check(&err);
    for (size_t k = 0; k < n; k++) {
        rapt_tape_begin(t, (rapt_pass){0});
        const rapt_tensor *y = rapt_lm_next(t, net, cache, text, LINE, count + k);
        check(rapt_tape_error(t));
        size_t best = 0;
        for (size_t i = 1; i < rapt_tensor_size(y); i++)
            best = y->data[i] > y->data[best] ? i : best;
        text[count + k] = (int32_t)best;
    }
    rapt_kv_cache_free(cache);
}

/* Logits of the last tokens of a text: those before them are a prompt, of which only keys and values count. */
static void put_last(rapt_tape *t, const rapt_lm *net, const int32_t *text, size_t count, size_t last)
{
    rapt_error err = {0};
    rapt_kv_cache *cache = rapt_kv_cache_new(rapt_lm_kv_sizes(net, 1), &err);
    check(&err);
    rapt_tape_begin(t, (rapt_pass){0});
    if (last < count)
        rapt_lm_step(t, net, cache, (rapt_tokens){.ids = text, .batch = 1, .time = count - last}, true);
    put_logits(t, rapt_lm_step(t, net, cache, (rapt_tokens){.ids = text + count - last, .batch = 1, .time = last}, false));
    rapt_kv_cache_free(cache);
}

static void language_model(const rapt_model *m, rapt_tape *t, size_t n, size_t last)
{
    static char line[LINE];
    static int32_t text[LINE];
    while (fgets(line, sizeof line, stdin)) {
        const size_t count = read_ids(line, text);
        search(t, rapt_model_language(m)->net, text, count, n);
        printf("{");
        put_ids("greedy", text + count, n);
        put_last(t, rapt_model_language(m)->net, text, count, last > 0 ? last : count);
    }
}

static void translator(const rapt_model *m, rapt_tape *t, size_t beam, double penalty)
{
    static char line[LINE];
    static int32_t source[LINE], target[LINE];
    rapt_translate_options o = rapt_translate_options_default();
    o.beam = beam;
    o.length_penalty = penalty;
    o.tokens = true;
    while (fgets(line, sizeof line, stdin)) {
        rapt_error err = {0};
        rapt_translation out;
        line[strcspn(line, "\n")] = '\0';
        rapt_translate(m, (const char *const[]){line}, 1, &o, &out, &err);
        check(&err);
        const rapt_hypothesis *h = &out.hypotheses[0];
        memcpy(source, out.source, out.source_count * sizeof *source);
        source[out.source_count] = rapt_model_translation(m)->special.eos;
        target[0] = rapt_model_translation(m)->special.bos;
        memcpy(target + 1, h->tokens, h->token_count * sizeof *target);
        printf("{");
        put_ids("source", source, out.source_count + 1);
        put_ids("target", target + 1, h->token_count);
        printf("\"score\": %.9g, ", h->score);
        rapt_tape_begin(t, (rapt_pass){0});
        put_logits(t, rapt_transformer_forward(t, rapt_model_translation(m)->net,
                                               (rapt_tokens){.ids = source, .batch = 1, .time = out.source_count + 1}, NULL,
                                               (rapt_tokens){.ids = target, .batch = 1, .time = h->token_count + 1}));
        rapt_translations_free(&out, 1);
    }
}

int main(int argc, char **argv)
{
    rapt_error err = {0};
    if (argc < 4)
        fail("see the head of its source");
    rapt_model *m = rapt_model_load(argv[2], NULL, &err);
    check(&err);
    rapt_tape *t = rapt_tape_new(NULL, &err);
    check(&err);
    if (strcmp(argv[1], "lm") == 0)
        language_model(m, t, (size_t)atoi(argv[3]), argc > 4 ? (size_t)atoi(argv[4]) : 0);
    else
        translator(m, t, (size_t)atoi(argv[3]), argc > 4 ? atof(argv[4]) : 0);
    rapt_tape_free(t);
    rapt_model_free(m);
    return 0;
}
