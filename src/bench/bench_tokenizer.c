/* bench/bench_tokenizer.c: how fast a tokenizer encodes a text, whole and line by line, and decodes it, on one thread. The
 * best of several passes each, as bench/tokenizer.py takes for tiktoken; and the first pass, before which it knows no piece. */
#include "bench/bench.h"

#include "base/clock.h"
#include "cli/cli.h"
#include "rapt/text.h"
#include "text/text_in.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_PASSES = 3, DEFAULT_SECONDS = 1 };

typedef struct tokenizer_bench {
    rapt_tokenizer *k;
    char *text;
    size_t size;
    int32_t *ids; /* ids of the whole text */
    size_t count;
} tokenizer_bench;

static rapt_code encode_whole(tokenizer_bench *b, rapt_error *err)
{
    free(b->ids);
    return rapt_tokenizer_encode_bytes(b->k, b->text, b->size, NULL, &b->ids, &b->count, err);
}

static rapt_code bench_tokenizer_encode_lines(tokenizer_bench *b, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    for (size_t at = 0; at < b->size && code == RAPT_OK;) {
        int32_t *ids;
        size_t count;
        const char *feed = memchr(b->text + at, '\n', b->size - at);
        size_t length = feed ? (size_t)(feed - (b->text + at)) : b->size - at;
        code = rapt_tokenizer_encode_bytes(b->k, b->text + at, length, NULL, &ids, &count, err);
        free(ids);
        at += length + 1;
    }
    return code;
}

static rapt_code decode_whole(tokenizer_bench *b, rapt_error *err)
{
    char *text = rapt_tokenizer_decode(b->k, b->ids, b->count, NULL);
    free(text);
    return text ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a text");
}

static double bench_tokenizer_rate(const tokenizer_bench *b, double seconds)
{
    return seconds > 0 ? (double)b->size / 1e6 / seconds : 0;
}

/* Megabytes a second of the fastest pass. */
static rapt_code best_of(tokenizer_bench *b, rapt_code (*pass)(tokenizer_bench *b, rapt_error *err), double seconds,
                         double *mb_s, rapt_error *err)
{
    double start = clock_seconds(), best = 0;
    for (int i = 0; i < LEAST_PASSES || clock_seconds() - start < seconds; i++) {
        double before = clock_seconds();
        rapt_code code = pass(b, err);
        double took = clock_seconds() - before;
        if (code)
            return code;
        best = i == 0 || took < best ? took : best;
    }
    *mb_s = bench_tokenizer_rate(b, best);
    return RAPT_OK;
}

static rapt_code bench_tokenizer_measure(tokenizer_bench *b, const bench_options *o, double loading, rapt_error *err)
{
    double whole, lines, decoding, seconds = o->seconds > 0 ? o->seconds : DEFAULT_SECONDS;
    const double before = clock_seconds();
    rapt_code code = encode_whole(b, err);
    const double first = bench_tokenizer_rate(b, clock_seconds() - before);
    code = code ? code : best_of(b, encode_whole, seconds, &whole, err);
    code = code ? code : best_of(b, bench_tokenizer_encode_lines, seconds, &lines, err);
    code = code ? code : best_of(b, decode_whole, seconds, &decoding, err);
    if (code == RAPT_OK)
        printf(o->json ? "{\"text_mb\": %.2f, \"tokens\": %zu, \"load_s\": %.3f, \"first_mb_s\": %.1f, \"encode_mb_s\": %.1f, "
                         "\"lines_mb_s\": %.1f, \"decode_mb_s\": %.1f}\n"
                       : "%.2f MB, %zu tokens; loaded in %.3f s; MB/s on one thread: first %.1f, then encode %.1f, line by line "
                         "%.1f, decode %.1f\n",
               (double)b->size / 1e6, b->count, loading, first, whole, lines, decoding);
    return code;
}

rapt_code bench_tokenizer(const bench_options *o, rapt_error *err)
{
    tokenizer_bench b = {0};
    double start = clock_seconds();
    b.k = rapt_tokenizer_load(o->tokenizer, err);
    double loading = clock_seconds() - start;
    rapt_code code = b.k ? text_in_read(o->text, CLI_MAX_TEXT, &b.text, &b.size, err) : err->code;
    if (code == RAPT_OK)
        code = bench_tokenizer_measure(&b, o, loading, err);
    free(b.ids);
    free(b.text);
    rapt_tokenizer_free(b.k);
    return code;
}
