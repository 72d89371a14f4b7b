/* tests/io/weights_folder.h: folders of safetensors files and indices made by hand, for tests of src/io/weights. To be included
 * after cmocka.h and folder.h. */
#ifndef IO_WEIGHTS_FOLDER_H
#define IO_WEIGHTS_FOLDER_H

#include "base/file.h"
#include "io/weights/weights.h"

#include <string.h>

/* Writes a file into the test's folder. */
static inline void put_file(const char *name, const void *bytes, size_t size)
{
    assert_int_equal(file_write_atomic(folder_in(name), bytes, size, NULL), RAPT_OK);
}

static inline void put_text(const char *name, const char *text)
{
    put_file(name, text, strlen(text));
}

/* Writes a safetensors file with a tensor of two numbers for each of `count` names. */
static inline void put_tensors(const char *file, const char *const *names, size_t count)
{
    static const float values[2] = {1.5f, -2};
    safetensors_entry entries[8];
    for (size_t i = 0; i < count; i++)
        entries[i] = (safetensors_entry){names[i], SAFETENSORS_F32, 1, {2}, values, sizeof values};
    assert_int_equal(safetensors_write(folder_in(file), entries, count, NULL, NULL), RAPT_OK);
}

/* Opening a path in the folder fails with these words, in a line that begins with the folder's path, or what comes before it. */
static inline void open_refused(const char *name, rapt_code code, const char *says)
{
    rapt_error err = {0};
    weights *w;
    rapt_code got = weights_open(folder_in(name), &w, &err);
    assert_null(w);
    assert_null(strchr(err.message, '\n'));
    assert_non_null(strstr(err.message, folder_path));
    if (!strstr(err.message, says))
        fail_msg("\"%s\" lacks \"%s\"", err.message, says);
    assert_int_equal(got, code);
}

#endif
