/* tests/io/torch_reads.h: reads damaged copies of files of torch.save, for the tests of both formats. After cmocka.h. */
#ifndef IO_TORCH_READS_H
#define IO_TORCH_READS_H

#include <stdlib.h>
#include <string.h>

#include "io/weights/torch_file.h"

/* Reads a copy of just these bytes, and all of its tensors. */
static inline bool torch_reads(const char *bytes, size_t size)
{
    rapt_error err = {0};
    torch_file f;
    unsigned sum = 0;
    char *copy = malloc(size + 1);
    memcpy(copy, bytes, size);
    bool read = torch_file_read(&f, "m", copy, size, &err) == RAPT_OK;
    for (size_t i = 0; read && i < f.count; i++)
        for (size_t j = 0; f.tensors[i].row_major && j < f.tensors[i].bytes; j++)
            sum += (unsigned char)f.tensors[i].data[j];
    assert_true(read || err.code == RAPT_ERR_FORMAT);
    assert_true(sum < UINT32_MAX);
    torch_file_free(&f);
    free(copy);
    return read;
}

#endif
