/* text/folder_json.h: JSON files of Hugging Face folders that say how texts are encoded. For tokenizers and chat templates. */
#ifndef TEXT_FOLDER_JSON_H
#define TEXT_FOLDER_JSON_H

#include "rapt/base.h"

#include <jansson.h>

/* The object in a file of the folder, owned by the caller; an empty object if there is no such file. A GGUF file counts as a
 * folder with only one file, tokenizer_config.json. */
rapt_code folder_json_read(const char *folder, const char *name, json_t **root, rapt_error *err);

#endif
