/* io/model_parts.c: checks that the folders of all tasks need: tokenizers that fit, a parameter file of a plausible size. For the
 * tasks. */
#include "io/model.h"

#include "base/file.h"
#include "io/stored_blocks.h"
#include "io/stored_numbers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void model_hash(const rapt_tokenizer *k, char text[CONFIG_HASH_TEXT])
{
    snprintf(text, CONFIG_HASH_TEXT, "%016llx", (unsigned long long)rapt_tokenizer_hash(k));
}

rapt_code model_save_tokenizer(const rapt_tokenizer *k, const char *folder, const char *name, rapt_error *err)
{
    char *path;
    rapt_code code = file_path(folder, name, &path, err);
    if (!code)
        code = rapt_tokenizer_save(k, path, err);
    free(path);
    return code;
}

rapt_code model_check_entries(const rapt_tokenizer *k, const model_vocabulary *wanted, const char *path, rapt_error *err)
{
    size_t n = rapt_tokenizer_size(k);
    if (n == wanted->entries || (wanted->at_least && n > wanted->entries))
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_FORMAT, "%s: %zu tokens; the model was made for %zu", path, n, wanted->entries);
}

static rapt_code check_tokenizer(const rapt_tokenizer *k, const model_vocabulary *wanted, bool any, const char *path,
                                 rapt_error *err)
{
    char own[CONFIG_HASH_TEXT];
    model_hash(k, own);
    rapt_code code = model_check_entries(k, wanted, path, err);
    if (!code && !any && strcmp(own, wanted->hash) != 0)
        code = rapt_fail(err, RAPT_ERR_FORMAT, "%s: not the tokenizer that the model was trained with", path);
    return code;
}

rapt_tokenizer *model_load_tokenizer(const model_source *from, const char *name, const model_vocabulary *wanted,
                                     rapt_error *err)
{
    char *path;
    rapt_tokenizer *k = file_path(from->folder, name, &path, err) ? NULL : rapt_tokenizer_load(path, err);
    if (k && check_tokenizer(k, wanted, from->sealing, path, err)) {
        rapt_tokenizer_free(k);
        k = NULL;
    }
    free(path);
    return k;
}

params_staying model_stays(const model_source *from)
{
    const bool copied = !model_source_stays(from) || from->add;
    if (!copied && from->packs)
        return PARAMS_STAY_ALL;
    const bool smaller = stored_blocks_any(from->weights) || (!copied && stored_numbers_any_16_bits(from->weights));
    return smaller ? PARAMS_STAY_SMALLER : PARAMS_STAY_NONE;
}

uint64_t model_seed(const model_source *from)
{
    return model_stays(from) ? RAPT_SEED_UNSET : RAPT_SEED_NONE;
}

/* Whether a file stores some weights in fewer bits than fp32 has. */
static bool has_fewer_bits(const safetensors *file)
{
    for (size_t i = 0; i < safetensors_count(file); i++)
        if (safetensors_dtype_bytes(safetensors_at(file, i)->dtype) < sizeof(float))
            return true;
    return false;
}

rapt_code model_check_weights(const model_source *from, double min_bytes, rapt_error *err)
{
    size_t bytes = safetensors_bytes(from->weights);
    if (has_fewer_bits(from->weights))
        min_bytes *= (double)BLOCKS_Q4_0.bytes / (double)(BLOCKS_Q4_0.elements * sizeof(float));
    if ((double)bytes >= min_bytes)
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_FORMAT, "%s: %zu bytes; the model of config.json takes more than %.0f", from->weights_path,
                     bytes, min_bytes);
}
