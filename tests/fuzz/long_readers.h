/* tests/fuzz/long_readers.h: the readers of text that long_inputs.c measures. Not for what reads files of binary formats. */
#ifndef FUZZ_LONG_READERS_H
#define FUZZ_LONG_READERS_H

#include "fuzz/fuzz.h"

#include "text/utf8.h"

typedef struct long_reader {
    const char *name;
    void (*run)(const void *of, const char *text, size_t size); /* a NUL follows the text; what is wrong with it is fine */
    const void *of;
    bool valid; /* reads valid UTF-8 only */
} long_reader;

extern long_reader *long_readers;
extern size_t long_reader_count;

/* Tokenizers that are trained learn the units. */
void long_readers_make(const char *const *units, size_t count);
void long_readers_free(void);

#endif
