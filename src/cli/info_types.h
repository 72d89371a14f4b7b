/* cli/info_types.h: the files that a model's tensors are in, and the types of their elements. For `rapt info` and `rapt
 * convert`. */
#ifndef CLI_INFO_TYPES_H
#define CLI_INFO_TYPES_H

#include "io/weights/weights.h"

#include <jansson.h>

/* Tensors of one element type. */
typedef struct info_type {
    const char *name;
    size_t tensors, bytes;
} info_type;
enum { INFO_TYPES = SAFETENSORS_DTYPE_COUNT + 16 }; /* more than there are formats of blocks */

/* Numeric types of all tensors, or only of the matrices, first the types that are not quantized; some may have no tensor. Returns
 * the number of types. */
size_t info_types_sum(const weights *w, bool matrices, info_type types[INFO_TYPES]);

/* "files         model.safetensors (4.2 MB)", a line for each. */
void info_types_print_files(const weights *w);
/* "elements      F32 in 9 tensors (1.2 kB), Q8_0 in 8 tensors (44.0 kB)", a line. */
void info_types_print(const weights *w);

/* Files as JSON: [{"name", "bytes"}]. Types as JSON: {"F32": {"tensors", "bytes"}}. NULL: out of memory. */
json_t *info_types_files_json(const weights *w);
json_t *info_types_json(const weights *w);

#endif
