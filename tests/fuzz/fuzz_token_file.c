/* tests/fuzz/fuzz_token_file.c: any bytes as a token file, once as they are and once with checksums that fit them, all
 * the way to windows.
 * For libFuzzer: tests/fuzz/run.sh.
 * Not a unit test: it asserts only what holds for every input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "data/tokens/token_format.h"
#include "rapt/stream.h"

#include <xxhash.h>

enum { BATCH = 3, MOST_STEPS = 20 };

/* Each row is the stream from its start on. */
static void check_batch(const rapt_token_file *f, const rapt_window_batch *b)
{
    size_t time = b->inputs.time;
    int32_t id;
    for (size_t row = 0; row < b->inputs.batch; row++)
        for (size_t i = 0; i < (size_t)b->valid_lens[row]; i++) {
            rapt_token_file_ids(f, b->starts[row] + i, 1, &id);
            require(b->inputs.ids[row * time + i] == id);
            rapt_token_file_ids(f, b->starts[row] + i + 1, 1, &id);
            require(b->labels.ids[row * time + i] == id);
        }
}

static void check_windows(const rapt_token_file *f, rapt_token_range part, size_t context)
{
    rapt_error err = {0};
    rapt_windows *w = rapt_windows_new(f, &part, context, BATCH, 1, &err);
    require_outcome(w != NULL, &err);
    require((w != NULL) == (part.end - part.begin > context));
    for (size_t i = 0; w && i < MOST_STEPS; i++)
        check_batch(f, rapt_windows_random(w, i));
    for (size_t i = 0; w && i < rapt_windows_batches(w); i++)
        check_batch(f, rapt_windows_at(w, i));
    rapt_windows_free(w);
}

static void check_ids(const rapt_token_file *f)
{
    size_t count = rapt_token_file_count(f);
    int32_t id, largest = rapt_token_file_max_id(f), seen = 0;
    require(count > 0 && (size_t)largest < rapt_token_file_vocab(f));
    for (size_t i = 0; i < count; i++) {
        rapt_token_file_ids(f, i, 1, &id);
        require(id >= 0 && id <= largest);
        seen |= id == largest;
    }
    require(seen);
}

static void try_file(const void *bytes, size_t size)
{
    char path[64];
    rapt_error err = {0};
    int fd = fuzz_file(bytes, size, path);
    rapt_token_file *f = rapt_token_file_open(path, &err);
    require_outcome(f != NULL, &err);
    if (f) {
        check_ids(f);
        check_windows(f, rapt_token_range_training(f, 0.9), 5);
        check_windows(f, rapt_token_range_validation(f, 0.9), 1);
    }
    rapt_token_file_close(f);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    token_header h;
    try_file(input, size);
    if (size < sizeof h)
        return 0;
    uint8_t *sealed = malloc(size);
    require(sealed != NULL);
    memcpy(sealed, input, size);
    memcpy(&h, input, sizeof h);
    memcpy(h.magic, "RAPTTOK1", sizeof h.magic);
    h.ids_hash = XXH3_64bits(input + sizeof h, size - sizeof h);
    h.checksum = token_header_checksum(&h);
    memcpy(sealed, &h, sizeof h);
    try_file(sealed, size);
    free(sealed);
    return 0;
}
