/* tests/data/token_folder.h: a folder with a text and its token file, for the tests of src/data/token_make.c. To be included
 * after cmocka.h. */
#ifndef DATA_TOKEN_FOLDER_H
#define DATA_TOKEN_FOLDER_H

#include "rapt/stream.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64], text[96], out[96];

static inline int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/rapt-token-make-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(text, sizeof text, "%s/text", folder);
    snprintf(out, sizeof out, "%s/t.tokens", folder);
    return 0;
}

static inline int remove_files(void **state)
{
    (void)state;
    unlink(text);
    unlink(out);
    return 0;
}

static inline int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static inline int entries(void)
{
    DIR *dir = opendir(folder);
    int count = -2; /* for . and .. */
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
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
    assert_int_equal(entries(), 2);
}

#endif
