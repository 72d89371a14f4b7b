/* text/pipeline/pipeline_read.c: a tokenizer.json as a pipeline. For hf_read.c. */
#include "text/pipeline/pipeline.h"

#include "text/json_text.h"
#include "text/pipeline/component.h"

#include <stdlib.h>

/* Keeps the file without `truncation` and `padding`, which concern the code that makes batches. */
static rapt_code keep_json(pipeline *p, const hf_reading *r)
{
    json_t *copy = json_copy((json_t *)r->root);
    if (copy) {
        json_object_del(copy, "truncation");
        json_object_del(copy, "padding");
    }
    p->json = json_text(copy, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(copy);
    return p->json ? RAPT_OK : component_no_memory(r);
}

/* Added tokens go through the normalizer; the post-processor names them. */
static rapt_code read_components(pipeline *p, const hf_reading *r)
{
    rapt_code code = component_check_keys(r, "tokenizer", r->root, "version truncation padding added_tokens normalizer "
                                                                   "pre_tokenizer post_processor decoder model");
    code = code ? code : pipeline_model_read(&p->model, r);
    code = code ? code : normal_steps_read(&p->normal, r, json_object_get(r->root, "normalizer"));
    code = code ? code : pretoken_steps_read(&p->cuts, r, json_object_get(r->root, "pre_tokenizer"));
    code = code ? code : decode_steps_read(&p->decoder, r, json_object_get(r->root, "decoder"));
    code = code ? code : pipeline_read_added(r, p);
    code = code ? code : hf_read_post_processor(r, &p->model.vocab, &p->before, &p->after, &p->pair);
    return code ? code : keep_json(p, r);
}

rapt_tokenizer *pipeline_from_json(const json_t *root, const char *path, rapt_error *err)
{
    const hf_reading r = {.root = root, .path = path, .err = err};
    pipeline *p = pipeline_new(err);
    if (p && read_components(p, &r) == RAPT_OK)
        return &p->base;
    pipeline_free(p);
    return NULL;
}
