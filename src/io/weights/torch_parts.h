/* io/weights/torch_parts.h: what torch_file.c reads files of torch.save with: the zip archive, the pickle, the tensors that it
 * describes, and the older format. */
#ifndef IO_WEIGHTS_TORCH_PARTS_H
#define IO_WEIGHTS_TORCH_PARTS_H

#include "rapt/base.h"

#include "base/quote.h"
#include "io/weights/torch_file.h"

/* ---- zip_file.c: the entries of a zip archive in memory, as PKWARE's APPNOTE.TXT describes it, with the 64-bit fields. For
 * files of torch.save, whose entries are stored without compression: compressed or encrypted ones are refused. */

/* Points into the archive's bytes. */
typedef struct zip_entry {
    const char *name; /* without a NUL */
    size_t name_size;
    const char *data;
    size_t size;
} zip_entry;

typedef struct zip_file {
    zip_entry *entries; /* by name */
    size_t count;
} zip_file;

/* Whether these bytes begin like a zip archive. */
bool zip_begins(const char *bytes, size_t size);

/* Reads the directory of an archive. Names are unique, and each entry's data lies before the directory. Checksums are not
 * compared, because torch.save can leave them out. `path` is for messages, "PATH: reason" (RAPT_ERR_FORMAT); RAPT_ERR_MEMORY.
 * After a failure *z is empty. */
rapt_code zip_read(zip_file *z, const char *path, const char *bytes, size_t size, rapt_error *err);
/* The entry with this name; NULL: there is none. */
const zip_entry *zip_find(const zip_file *z, const char *name, size_t name_size);
void zip_free(zip_file *z);

/* ---- pickle.c: reads a pickle of protocol 2 as plain values. Python's pickletools.py describes the format: a program for a
 * stack machine, whose instructions build values, look up names of Python, and call them.
 *
 * Nothing is called here: a name is looked up in the caller's list, and the caller builds the value. Names that are not in the
 * list are refused. For torch_file.c. */

#define PICKLE_MAX ((size_t)16 << 20) /* max bytes of a pickle; a model with 10,000 tensors has 2 MB */

typedef enum pickle_kind {
    PICKLE_MARK, /* the beginning of a sequence on the stack; not a value */
    PICKLE_NONE,
    PICKLE_BOOL,
    PICKLE_INTEGER,
    PICKLE_FLOAT,
    PICKLE_TEXT,
    PICKLE_TUPLE,
    PICKLE_LIST,
    PICKLE_DICT,
    PICKLE_NAME,   /* a name of the caller's list */
    PICKLE_HANDLE, /* a handle of something that the caller has built */
} pickle_kind;

typedef struct pickle_items pickle_items;

typedef struct pickle_value {
    pickle_kind kind;
    uint32_t size; /* bytes of a text; for a name or handle, free for the caller, like `integer` */
    union {
        int64_t integer; /* also of a bool */
        double real;
        const char *text; /* UTF-8 without NULs, within the pickle */
        pickle_items *items;
    };
} pickle_value;

/* The items of a tuple, list or dict; for a dict key, value, key, value, ... in the order in which they were set, including
 * repeated keys. */
struct pickle_items {
    pickle_value *values;
    size_t count, capacity;
};

typedef struct pickle pickle;

/* The caller's functions. One that fails must set `err`, with "PATH: ..." for the path of pickle_read. */
typedef struct pickle_caller {
    void *context;
    /* Looks up `name`, such as "collections.OrderedDict": *out becomes a PICKLE_NAME; false: it is not in the caller's list. */
    bool (*find_name)(void *context, const char *name, pickle_value *out);
    /* Builds the value of a PICKLE_NAME with arguments. */
    rapt_code (*call)(void *context, const pickle_value *name, const pickle_items *arguments, pickle_value *out, rapt_error *err);
    /* Looks up a persistent id. */
    rapt_code (*look_up)(void *context, const pickle_value *id, pickle_value *out, rapt_error *err);
} pickle_caller;

/* Reads the pickle at *at, up to PICKLE_MAX bytes, and sets *at to its end; *out then owns all values, and *result is the value
 * of the pickle. `bytes` and `caller` are borrowed until pickle_free. RAPT_ERR_FORMAT: "PATH: byte N of the pickle: reason",
 * where N counts from `bytes`; RAPT_ERR_MEMORY. Memory grows only with the size of the pickle. After a failure *out is NULL. */
rapt_code pickle_read(const char *path, const char *bytes, size_t size, size_t *at, const pickle_caller *caller, pickle **out,
                      pickle_value *result, rapt_error *err);
void pickle_free(pickle *p); /* NULL is fine */

/* "an integer", "a dict": for messages. */
const char *pickle_kind_name(pickle_kind kind);

/* ---- torch_state.c: the pickle of a dict of tensors that torch.save wrote. Both of its formats have the same pickle; only the
 * places of the storages' bytes differ. For the readers of these formats, torch_file.c and torch_older.c.
 *
 * The order: read, set the data of all storages, take, free. */

typedef struct torch_storage {
    const char *key; /* within the pickle, without a NUL */
    size_t key_size;
    safetensors_dtype dtype;
    size_t elements;
    const char *data; /* `elements` elements, set by the caller */
} torch_storage;

typedef struct torch_tensor {
    weights_tensor shown; /* without name and data */
    size_t storage;       /* its number */
    size_t offset;        /* offset of the first element in the storage */
} torch_tensor;

typedef struct torch_state {
    const char *path;
    bool older;              /* the format before PyTorch 1.6 */
    torch_storage *storages; /* one for each mention of one: a key that is shared comes again */
    size_t storage_count, storage_capacity;
    torch_tensor *tensors; /* as they were built */
    size_t tensor_count, tensor_capacity;
    pickle *pickle;
    pickle_value dict;
    rapt_error *err; /* must not hold an earlier failure */
} torch_state;

/* Reads the pickle at *at in `bytes`, which are borrowed until torch_state_free, and sets *at to its end. Every element of each
 * tensor is within the stated elements of its storage. The caller sets path, older and err of *s and zeroes the rest. */
rapt_code torch_state_read(torch_state *s, const char *bytes, size_t size, size_t *at);
/* Takes the named tensors of the dict, once storages have data. The caller frees *out, even after a failure. */
rapt_code torch_state_take(const torch_state *s, torch_file *out);
void torch_state_free(torch_state *s);

/* Whether that many bytes are the elements of a storage. */
bool torch_storage_holds(const torch_storage *s, size_t bytes);

/* Errors: RAPT_ERR_FORMAT, "PATH: reason"; RAPT_ERR_MEMORY. */
RAPT_PRINTF(2, 3)
rapt_code torch_state_bad(const torch_state *s, const char *format, ...);
rapt_code torch_state_no_memory(const torch_state *s);
/* The beginning of a text without a NUL, for a message. */
quoted torch_state_quote(const char *text, size_t size);

/* ---- torch_older.c: the format of torch.save before PyTorch 1.6, which is not a zip archive. For torch_file.c.
 *
 * Such a file has five consecutive pickles, and the data. The pickles are a magic number; the version; a dict with
 * "little_endian"; the dict of tensors, as torch_file.h describes it, whose persistent ids have a sixth part, None; and the list
 * of the keys of the storages. Then, for each key of the list, the number of elements of its storage, in 8 bytes, and their
 * bytes.
 *
 * Tar archives, the format before this, are refused. */

/* Also true for a tar archive. */
bool torch_older_begins(const char *bytes, size_t size);

/* Reads a file that begins so. Tensors point into `bytes`. The caller frees *out, even after a failure. */
rapt_code torch_older_read(torch_state *s, const char *bytes, size_t size, torch_file *out);

#endif
