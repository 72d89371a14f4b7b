/* io/weights/torch_older.h: the format of torch.save before PyTorch 1.6, which is no zip archive. For torch_file.c, which has
 * what all callers use.
 *
 * Such a file is five pickles in a row, and the data: the number by which the format is known; its version; a dict that says
 * "little_endian"; the dict of tensors, as torch_file.h describes it, whose persistent ids have a sixth part, None; the list of
 * the keys of the storages. Then, for each key of the list, the number of elements of its storage, in 8 bytes, and their bytes.
 *
 * Tar archives, the format before that, are refused. */
#ifndef IO_TORCH_OLDER_H
#define IO_TORCH_OLDER_H

#include "io/weights/torch_state.h"

/* Also true for a tar archive. */
bool torch_older_begins(const char *bytes, size_t size);

/* Reads a file that begins so. Tensors' data lies in `bytes`. What a failure leaves in *out is the caller's to free. */
rapt_code torch_older_read(torch_state *s, const char *bytes, size_t size, torch_file *out);

#endif
