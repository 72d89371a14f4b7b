/* data/token_file.h: the inside of rapt_token_file, for token_make.c, which compares it with a text. */
#ifndef DATA_TOKEN_FILE_H
#define DATA_TOKEN_FILE_H

#include "rapt/stream.h"

#include "base/file.h"
#include "data/token_format.h"

struct rapt_token_file {
    token_header header;
    const char *ids; /* in the map or in `own` */
    file_map map;
    char *own;  /* ids that came from memory, or NULL */
    char *path; /* of the file, or NULL */
};

#endif
