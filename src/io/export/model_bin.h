/* io/export/model_bin.h: CTranslate2's model.bin, version 6 of the format: u32 version; the name of the specification, u32
 * revision; u32 count and the variables, by rising name: its name, u8 dimensions, u32 for each, u8 type, u32 bytes, the data; u32
 * count and the aliases: a name, and the name of a variable with the same data. Texts are a u16 length with the NUL, and the
 * bytes. Little-endian. For export_ctranslate2.c. */
#ifndef IO_EXPORT_MODEL_BIN_H
#define IO_EXPORT_MODEL_BIN_H

#include "io/place/place_tensors.h"
#include "rapt/io.h"

/* Writes the tensors, which it sorts. */
rapt_code model_bin_write(place_tensors *set, const char *path, const char *specification, uint32_t revision,
                          const rapt_export_options *o, rapt_error *err);

#endif
