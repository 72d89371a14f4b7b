/* text/folder_json.c: JSON files of a Hugging Face folder. */
#include "text/folder_json.h"

#include "base/file.h"
#include "text/gguf/gguf_tokenizer.h"
#include "text/json_text.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 64 << 20 };

rapt_code folder_json_read(const char *folder, const char *name, json_t **root, rapt_error *err)
{
    bool there;
    char *path, *text = NULL;
    size_t size = 0;
    json_error_t where;
    *root = NULL;
    if (strcmp(name, "tokenizer_config.json") == 0 && gguf_is_file(folder)) {
        *root = gguf_settings_load(folder, err);
        return *root ? RAPT_OK : err ? err->code : RAPT_ERR_FORMAT;
    }
    rapt_code code = file_path(folder, name, &path, err);
    code = code ? code : file_is_there(path, &there, err);
    code = code || !there ? code : file_read_regular(path, MOST_BYTES, &text, &size, err);
    if (!code) {
        *root = text ? json_text_read(text, size, 0, &where) : json_object();
        if (!json_is_object(*root))
            code = rapt_fail(err, RAPT_ERR_FORMAT, "%s: not a JSON object", path);
    }
    free(path);
    free(text);
    return code;
}
