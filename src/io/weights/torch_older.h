/* io/weights/torch_older.h: the format of torch.save before PyTorch 1.6, which is not a zip archive. For torch_file.c.
 *
 * Such a file has five consecutive pickles, and the data. The pickles are a magic number; the version; a dict with
 * "little_endian"; the dict of tensors, as torch_file.h describes it, whose persistent ids have a sixth part, None; and the list
 * of the keys of the storages. Then, for each key of the list, the number of elements of its storage, in 8 bytes, and their
 * bytes.
 *
 * Tar archives, the format before this, are refused. */
#ifndef IO_TORCH_OLDER_H
#define IO_TORCH_OLDER_H

#include "io/weights/torch_state.h"

/* Also true for a tar archive. */
bool torch_older_begins(const char *bytes, size_t size);

/* Reads a file that begins so. Tensors point into `bytes`. The caller frees *out, even after a failure. */
rapt_code torch_older_read(torch_state *s, const char *bytes, size_t size, torch_file *out);

#endif
