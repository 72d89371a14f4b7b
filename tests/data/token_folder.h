/* tests/data/token_folder.h: a folder with a text and its token file, for the tests of src/data/tokens/token_make.c. To
 * be included after cmocka.h. */
#ifndef DATA_TOKEN_FOLDER_H
#define DATA_TOKEN_FOLDER_H

#include "rapt/stream.h"

#include "folder.h"

#include <string.h>

static char text[FOLDER_ROOM], out[FOLDER_ROOM];

static inline int make_folder(void **state)
{
    if (folder_make(state))
        return -1;
    strcpy(text, folder_in("text"));
    strcpy(out, folder_in("t.tokens"));
    return 0;
}

static inline int remove_files(void **state)
{
    (void)state;
    unlink(text);
    unlink(out);
    return 0;
}

static inline void put(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static inline void put_text(const char *line)
{
    put(text, line, strlen(line));
}

static inline rapt_tokenizer *characters_of(const char *line)
{
    rapt_tokenizer *k = rapt_tokenizer_train_characters(line, strlen(line), NULL);
    assert_non_null(k);
    return k;
}

static inline void assert_made(const rapt_tokenizer *k)
{
    rapt_error err = {0};
    rapt_token_file_make(k, text, out, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(folder_entries(folder_path), 2);
}

#endif
