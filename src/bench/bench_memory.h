/* bench/bench_memory.h: this machine's memory bandwidth, the peak of operations with low arithmetic intensity. */
#ifndef BENCH_BENCH_MEMORY_H
#define BENCH_BENCH_MEMORY_H

#include "rapt/base.h"

/* GB/s of sum = a + b over arrays that no cache holds, bytes read and written together: the peak of a training step's
 * elementwise operations. 0 with `err` set: out of memory. */
double memory_adds(int threads, rapt_error *err);

/* Reads an array of 512 MiB again and again: the upper bound for decoding, which reads each weight once a step. */
typedef struct memory_reader memory_reader;

memory_reader *memory_reader_new(int threads, rapt_error *err);
/* Reads the caller's memory, which is borrowed, instead of an array, except for the last bytes of a span: the upper bound for
 * decoding with weights that caches may hold. Fewer than 512 MiB are read several times a pass. */
typedef struct memory_span {
    const void *data; /* aligned to 8 bytes */
    size_t bytes;
} memory_span;
memory_reader *memory_reader_of(const memory_span *spans, size_t count, int threads, rapt_error *err);
double memory_reader_pass(memory_reader *r); /* 512 MiB or all of it: GB/s */
void memory_reader_free(memory_reader *r);

#endif
