/* io/model_free.c: frees a model, or the part of it that was loaded, and lists the files that stay open until then. In its own
 * file, because code that loads a part also frees it. */
#include "io/model.h"
#include "io/model_heads.h"
#include "io/model_maps.h"

#include "io/hub/hub_generation.h"
#include "io/hub/hub_origin.h"
#include "io/lora/model_lora.h"
#include "io/weights/weights.h"

#include <stdlib.h>

void model_maps(const rapt_model *m, void (*each)(void *context, const char *path, const file_map *map), void *context)
{
    for (size_t i = 0; m->files && i < weights_file_count(m->files); i++)
        each(context, weights_file_path(m->files, i), weights_file_map(m->files, i));
    if (m->stored)
        each(context, MODEL_WEIGHTS_FILE, safetensors_map(m->stored));
}

void rapt_model_free(rapt_model *m)
{
    if (!m)
        return;
    if (m->view) {
        rapt_model_free(model_heads_free(m));
        return;
    }
    if (m->translation.target != m->translation.source)
        rapt_tokenizer_free(m->translation.target);
    rapt_tokenizer_free(m->translation.source);
    rapt_tokenizer_free(m->language.tokenizer);
    free(m->chat_template);
    rapt_transformer_free(m->translation.net);
    rapt_lm_free(m->language.net);
    for (size_t i = 0; i < m->encoder.prompt_count; i++) {
        free(m->encoder.prompts[i].name);
        free(m->encoder.prompts[i].text);
    }
    rapt_tokenizer_free(m->encoder.tokenizer);
    rapt_encoder_only_free(m->encoder.net);
    weights_close(m->files);
    safetensors_close(m->stored);
    hub_origin_free(m->origin);
    adapter_close(m->adapter);
    lora_free(m->lora);
    hub_generation_policy_free(&m->search);
    free(m);
}
