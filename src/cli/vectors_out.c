/* cli/vectors_out.c: prints vectors as they come, or collects them for one array. */
#include "cli/vectors_out.h"

#include "cli/lines_out.h"

#include <stdlib.h>

enum { NPY_ALIGNMENT = 64, NPY_MAGIC = 10 }; /* bytes; the second before the header's text */

static rapt_code vectors_no_memory(rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the vectors");
}

static bool vectors_print(vectors_format format, const rapt_real *x, size_t d, FILE *to)
{
    const bool json = format == VECTORS_JSONL;
    bool ok = !json || fputs("{\"embedding\": [", to) >= 0;
    for (size_t j = 0; j < d && ok; j++)
        ok = fprintf(to, "%s%.9g", j == 0 ? "" : json ? ", " : " ", (double)x[j]) > 0;
    return ok && fputs(json ? "]}\n" : "\n", to) >= 0;
}

static rapt_code vectors_print_all(const vectors_out *o, const rapt_real *x, size_t count, rapt_error *err)
{
    memory_stream text;
    FILE *to = memory_stream_open(&text);
    bool ok = to != NULL;
    for (size_t i = 0; i < count && ok; i++)
        ok = vectors_print(o->format, x + i * o->d, o->d, to);
    ok = memory_stream_close(&text) && ok;
    rapt_code code = ok ? lines_out(text.text, text.size, err) : vectors_no_memory(err);
    free(text.text);
    return code;
}

static rapt_code vectors_out_keep(vectors_out *o, const rapt_real *x, size_t count, rapt_error *err)
{
    bool ok = o->kept.to || memory_stream_open(&o->kept);
    for (size_t i = 0; i < count * o->d && ok; i++) {
        const float number = (float)x[i];
        ok = fwrite(&number, sizeof number, 1, o->kept.to) == 1;
    }
    return ok ? RAPT_OK : vectors_no_memory(err);
}

rapt_code vectors_out_put(vectors_out *o, const rapt_real *x, size_t count, rapt_error *err)
{
    o->count += count;
    return o->format == VECTORS_NPY ? vectors_out_keep(o, x, count, err) : vectors_print_all(o, x, count, err);
}

/* The header with spaces up to the alignment, and a line feed. */
static rapt_code vectors_write_npy(const vectors_out *o, rapt_error *err)
{
    char text[2 * NPY_ALIGNMENT + 1], whole[NPY_MAGIC + sizeof text];
    const int used = snprintf(text, sizeof text, "{'descr': '<f4', 'fortran_order': False, 'shape': (%zu, %zu), }", o->count,
                              o->d);
    const int length = (NPY_MAGIC + used + NPY_ALIGNMENT) / NPY_ALIGNMENT * NPY_ALIGNMENT - NPY_MAGIC;
    const int size = snprintf(whole, sizeof whole, "\x93NUMPY\x01%c%c%c%-*s\n", 0, length & 255, length >> 8, length - 1, text);
    rapt_code code = lines_out(whole, (size_t)size, err);
    return code || o->kept.size == 0 ? code : lines_out(o->kept.text, o->kept.size, err);
}

rapt_code vectors_out_end(vectors_out *o, rapt_code before, rapt_error *err)
{
    rapt_code code = before;
    if (o->kept.to && !memory_stream_close(&o->kept) && !code)
        code = vectors_no_memory(err);
    if (!code && o->format == VECTORS_NPY)
        code = vectors_write_npy(o, err);
    free(o->kept.text);
    return code;
}
