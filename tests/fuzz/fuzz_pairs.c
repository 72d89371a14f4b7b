/* tests/fuzz/fuzz_pairs.c: any bytes as a file of sentence pairs, all the way to batches: lines, pairs, vocabularies,
 * data set, loader.
 * For libFuzzer: tests/fuzz/run.sh.
 * Not a unit test: it asserts only what holds for every input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "options.h"
#include "rapt/data.h"
#include "text/utf8.h"

enum { MAX_LEN = 9, BATCH = 4, MOST_PAIRS = 200 };

static rapt_tokenizer *make_vocabulary(const rapt_pairs *pairs, bool target)
{
    size_t n = rapt_pairs_count(pairs);
    const char **lines = malloc(n * sizeof *lines);
    rapt_error err = {0};
    for (size_t i = 0; i < n; i++)
        lines[i] = target ? rapt_pairs_target(pairs, i) : rapt_pairs_source(pairs, i);
    rapt_tokenizer *k = rapt_tokenizer_train_words(lines, n, &TRAIN_WORDS(.lowercase = !target), &err);
    require_outcome(k != NULL, &err);
    free(lines);
    return k;
}

static void check_tokens(const rapt_tokenizer *k, rapt_tokens tokens)
{
    for (size_t i = 0; i < tokens.batch * tokens.time; i++)
        require(rapt_tokenizer_token(k, tokens.ids[i], NULL) != NULL);
}

static size_t check_batch(const rapt_batch *b, const rapt_tokenizer *source, const rapt_tokenizer *target)
{
    require(b && b->source.batch <= BATCH && b->source.time <= MAX_LEN && b->labels.time <= MAX_LEN);
    check_tokens(source, b->source);
    check_tokens(target, b->inputs);
    check_tokens(target, b->labels);
    for (size_t i = 0; i < b->source.batch; i++) {
        require(b->source_lens[i] >= 1 && (size_t)b->source_lens[i] <= b->source.time);
        require(b->target_lens[i] >= 1 && (size_t)b->target_lens[i] <= b->labels.time);
        require(b->inputs.ids[i * b->inputs.time] == RAPT_BOS);
    }
    return b->source.batch;
}

static void check_batches(const rapt_dataset *d, const rapt_tokenizer *source, const rapt_tokenizer *target)
{
    rapt_error err = {0};
    rapt_loader *l = rapt_loader_new(d, &LOADER(.batch_size = BATCH, .shuffle = true, .seed = 3), &err);
    size_t seen = 0;
    require_outcome(l != NULL, &err);
    for (size_t i = 0; i < rapt_loader_batches(l); i++)
        seen += check_batch(rapt_loader_batch(l, 1, i), source, target);
    require(seen == rapt_dataset_count(d));
    check_batch(rapt_loader_largest(l), source, target);
    rapt_loader_free(l);
}

/* What was said comes back: each text is UTF-8, and a decoded one encodes to the same tokens. */
static void check_text(const rapt_tokenizer *k, const char *text)
{
    rapt_error err = {0};
    int32_t *ids, *again;
    size_t count, count_again;
    require(utf8_valid_prefix(text, strlen(text)) == strlen(text));
    require(rapt_tokenizer_encode(k, text, &ids, &count, &err) == RAPT_OK);
    char *decoded = rapt_tokenizer_decode(k, ids, count, NULL);
    require(rapt_tokenizer_encode(k, decoded, &again, &count_again, &err) == RAPT_OK);
    require(count == count_again && (count == 0 || memcmp(ids, again, count * sizeof *ids) == 0));
    free(decoded);
    free(ids);
    free(again);
}

static void try_pairs(const rapt_pairs *pairs)
{
    rapt_tokenizer *source = make_vocabulary(pairs, false), *target = make_vocabulary(pairs, true);
    for (size_t i = 0; i < rapt_pairs_count(pairs); i++) {
        check_text(source, rapt_pairs_source(pairs, i));
        check_text(target, rapt_pairs_target(pairs, i));
    }
    for (int policy = RAPT_TOO_LONG_CUT; policy <= RAPT_TOO_LONG_ERROR; policy++) {
        rapt_error err = {0};
        rapt_dataset_options o = DATASET(.max_len = MAX_LEN, .too_long = (rapt_too_long)policy,
                                  .pad_to_max = policy == RAPT_TOO_LONG_DROP,
                                  .validation_fraction = 0.25);
        rapt_dataset *d = rapt_dataset_new(pairs, source, target, &o, &err);
        require_outcome(d != NULL, &err);
        if (d)
            check_batches(d, source, target);
        rapt_dataset_free(d);
    }
    rapt_tokenizer_free(source);
    rapt_tokenizer_free(target);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    char path[64];
    rapt_error err = {0};
    int fd = fuzz_file(input, size, path);
    rapt_pairs *pairs = rapt_pairs_read(path, MOST_PAIRS, &err);
    require_outcome(pairs != NULL, &err);
    if (pairs)
        try_pairs(pairs);
    rapt_pairs_free(pairs);
    close(fd);
    return 0;
}
