/* text/folder_json.h: JSON files of Hugging Face folders that say how texts are encoded. For tokenizers and chat templates. */
#ifndef TEXT_FOLDER_JSON_H
#define TEXT_FOLDER_JSON_H

#include "rapt/base.h"

#include <jansson.h>

/* The object that a file of the folder holds, for the caller; an empty one where there is no such file. A GGUF
 * file stands for a folder with the one file that is called tokenizer_config.json. */
rapt_code folder_json_read(const char *folder, const char *name, json_t **root, rapt_error *err);

#endif
