/* io/export/export_hub.c: writes a model of a Hugging Face folder as such a folder. Tensors have the names and shapes with which
 * they were read, so pytorch_model.bin and shards become one model.safetensors, and weights to which an adapter was added are
 * kept. */
#include "io/export/export_kinds.h"

#include "base/file.h"
#include "io/export/export_folder.h"
#include "io/hub/hub_save.h"
#include "io/model_core.h"

#include <stdlib.h>

static rapt_code export_hub_check(const rapt_model *m, const char *path, const rapt_export_options *o, rapt_error *err)
{
    if (o->to == RAPT_EXPORT_RAPT && m->encoder.net)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: an encoder is not stored in fewer bits", path);
    if (o->to == RAPT_EXPORT_CTRANSLATE2)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: a model of a Hugging Face folder (%s) is written for transformers only; "
                         "CTranslate2 has a converter of its own for such folders", path, m->family);
    if (o->to == RAPT_EXPORT_RAPT)
        return hub_save_check_stored(m, path, export_rapt_type, o->weights, err);
    return hub_save_check(m, path, err);
}

rapt_code export_hub(const rapt_model *m, const char *path, const rapt_export_options *o, rapt_error *err)
{
    export_folder f;
    rapt_code code = export_hub_check(m, path, o, err);
    if (code)
        return code;
    export_folder_begin(&f, path, err);
    if (!f.code)
        f.code = hub_save_files(m, f.aside, err);
    const char *weights = export_folder_file(&f, "model.safetensors");
    if (weights)
        f.code = o->to == RAPT_EXPORT_RAPT ? hub_save_stored(m, weights, path, export_rapt_type, o, err)
                                           : hub_save_params(m, weights, o, err);
    return export_folder_end(&f);
}
